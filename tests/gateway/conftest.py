from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.process import RunningGateway, start_gateway
from gateway.settings import GatewayConfig, SessionSockets, SessionSpec, WebPolicy
from offline.data import ensure
from offline.fmp import FmpProcess, start_fmp

KEY = "gateway-canary-7f3a9c"


@pytest.fixture(scope="session")
def fmp() -> Iterator[FmpProcess]:
    with start_fmp(ensure(), KEY, allow_faults=True) as running:
        yield running


@pytest.fixture(scope="session")
def gateway(fmp: FmpProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    log = tmp_path_factory.mktemp("gateway") / "gateway.log"
    with start_gateway(GatewayConfig(fmp_base_url=fmp.base_url), key=KEY, log_path=log) as running:
        yield running


def spec(root: Path, session: str, mode: str = "offline", **fields: object) -> SessionSpec:
    return SessionSpec.model_validate(
        {
            "session": session,
            "socket_dir": str(root / session / "sockets"),
            "calls_path": str(root / session / "calls.jsonl"),
            "bodies_dir": str(root / session / "bodies"),
            "web": WebPolicy.model_validate({"mode": mode}),
        }
        | fields
    )


@pytest.fixture
def add(gateway: RunningGateway, tmp_path: Path) -> Iterator[Callable[..., SessionSockets]]:
    added: list[str] = []

    def make(session: str, **fields: object) -> SessionSockets:
        sockets = gateway.client.add_session(spec(tmp_path, session, **fields))
        added.append(session)
        return sockets

    yield make
    served = gateway.client.health().sessions
    for session in added:
        if session in served:
            gateway.client.remove_session(session)
