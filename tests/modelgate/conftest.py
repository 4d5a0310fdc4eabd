"""A model process against the local Messages server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from modelgate.process import Access, RunningModels, open_models
from records.chat import Block, ChatRequest
from records.limits import Limits
from tests.anthropic_server import KEY, AnthropicServer, Script

QUICK = Limits(model_retries=1, model_call_s=5, model_total_s=20)
SECRET = "cut to cash if the drawdown reaches 20 percent"
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 4}},
    "required": ["score"],
}


def request(**changes: object) -> ChatRequest:
    values: dict[str, object] = {
        "purpose": "judge",
        "model": "claude-opus-5-5",
        "system": (Block(text="You judge.", cached=True),),
        "prompt": (Block(text=SECRET, cached=True), Block(text="Which score?")),
        "answer_schema": SCHEMA,
        "effort": "low",
    }
    return ChatRequest.model_validate(values | changes)


Opened = Callable[..., tuple[AnthropicServer, RunningModels]]
Kept = dict[tuple[str, str], tuple[AnthropicServer, RunningModels]]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ExitStack, Kept]]:
    """Processes by limits and key; starting one takes seconds, most of them the SDK's import."""
    with ExitStack() as stack:
        yield stack, {}


@pytest.fixture
def opened(tmp_path: Path, kept: tuple[ExitStack, Kept]) -> Iterator[Opened]:
    """Return server and process for a script; one that a test ends is its own (`fresh`)."""
    session, running = kept
    with ExitStack() as test:

        def start(
            script: Script, *, limits: Limits = QUICK, key: str = KEY, fresh: bool = False
        ) -> tuple[AnthropicServer, RunningModels]:
            known = (limits.digest(), key)
            if fresh or known not in running:
                stack = test if fresh else session
                server = stack.enter_context(AnthropicServer(script))
                access = Access(key, "ANTHROPIC_API_KEY", server.url)
                models = stack.enter_context(open_models(access, log_to=tmp_path / "model.log", limits=limits))
                if fresh:
                    return server, models
                running[known] = server, models
            server, models = running[known]
            server.script = script
            server.requests.clear()
            return server, models

        yield start
