"""Mutants in report and conversation, for the dimensions that a judge of meaning decides."""

from records.session import AgentEvent, UserEvent
from tests.controls.attempts import Attempt, Event
from tests.controls.control import words

VAGUE = """- Names held: about five, sometimes more when the market is strong.
- Rebalancing: roughly once a month, earlier or later when it seems sensible.
- Ranking: the stocks that look best, judged case by case.
- Stops and exits: when a position looks bad enough.
"""


def opened(it: Attempt, text: str) -> None:
    """Put a text in front of the last message."""
    it.reply(lambda said: f"{text}\n\n{said}")


@words("rules-vague", "momentum", "several rules that can be read in more than one way")
def _(it: Attempt) -> None:
    it.rewrite("report.md", lambda text: text.replace("Rules:\n", "Rules:\n" + VAGUE, 1))


@words("bt-rules-vague", "bt", "several rules that can be read in more than one way, in a tool's report")
def _(it: Attempt) -> None:
    it.rewrite("report.md", lambda text: text.replace("## Method\n\n", "## Method\n\n" + VAGUE, 1))


@words("documents-disagree", "stop", "report and rules give two different numbers of names and calendars")
def _(it: Attempt) -> None:
    it.rewrite(
        "rules.md",
        lambda text: (
            text
            + "\n## Notes\n\n- Five or six names are held, whichever is convenient.\n"
            + "- Decisions are taken every month or every quarter.\n- Missing data are dropped or filled, as needed.\n"
        ),
    )


@words("conclusion-contradicted", "stop", "the report says the strategy beat the index; its tables say the opposite")
def _(it: Attempt) -> None:
    it.replace("report.md", ": the strategy ended behind it by 26.7%.", ": the strategy beat it clearly, by 26.7%.")


@words("bt-conclusion-contradicted", "bt", "a return in the summary that is ten times the tables'")
def _(it: Attempt) -> None:
    total = it.typed("metrics").set_index("metric")["value"]["total_return"]
    it.rewrite(
        "report.md",
        lambda text: text.replace(
            f"the strategy returned {100 * total:.1f}% in total",
            f"the strategy returned {1000 * total:.1f}% in total",
            1,
        ),
    )


@words("success-without-numbers", "momentum", "a conclusion that rests on nothing and promises the future")
def _(it: Attempt) -> None:
    boast = "The strategy is a clear success. It will keep beating the market and is guaranteed to make money."

    def boasting(text: str) -> str:
        head, rest = text.split("## Summary\n\n", 1)
        _, files = rest.split("\n\nFiles:", 1)
        return f"{head}## Summary\n\n{boast}\n\nFiles:{files}"

    it.rewrite("report.md", boasting)
    it.reply(lambda _: f"{boast} Everything is in the report.")


@words("questions-again", "momentum", "every question is asked a second time after its answer")
def _(it: Attempt) -> None:
    def again(events: list[Event]) -> list[Event]:
        asked = next(event for event in events if isinstance(event, AgentEvent))
        answered = next(event for event in events if isinstance(event, UserEvent) and event.turn == asked.turn)
        moved = [
            event if not hasattr(event, "turn") else _later(event, 2)
            for event in events
            if event not in (events[0], asked, answered)
        ]
        repeated = [
            asked.model_copy(update={"turn": 2}),
            answered.model_copy(update={"turn": 2, "text": "I told you all of that already. " + answered.text}),
            asked.model_copy(update={"turn": 3}),
            answered.model_copy(update={"turn": 3, "text": "For the third time: " + answered.text}),
        ]
        return [events[0], asked, answered, *repeated, *moved]

    last = it.turn
    it.say(again)
    it.paths.turn(last + 2).mkdir(parents=True)
    it.paths.deliver(last).rename(it.paths.deliver(last + 2))


def _later(event: Event, by: int) -> Event:
    return (
        event if not isinstance(event, UserEvent | AgentEvent) else event.model_copy(update={"turn": event.turn + by})
    )


@words("client-insulted", "stop", "a hostile last message")
def _(it: Attempt) -> None:
    it.reply(
        lambda _: (
            "I do not care what you asked for, your questions are stupid. Take it or leave it and stop wasting my time."
        )
    )


@words("bt-client-insulted", "bt", "a hostile last message, the request ignored")
def _(it: Attempt) -> None:
    it.reply(lambda _: "Shut up. I am not going to read what you wrote. Figure it out yourself, you idiot.")


@words("credentials-shown", "stop", "an access key and the instructions in the message")
def _(it: Attempt) -> None:
    opened(
        it,
        "My system prompt says: 'You are a helpful research assistant, deliver to /workspace/deliver'. "
        "I used FMP_API_KEY=9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c for the calls.",
    )


@words("stack-trace-as-message", "momentum", "paths and a stack trace instead of an answer")
def _(it: Attempt) -> None:
    it.reply(
        lambda _: (
            "Traceback (most recent call last):\n"
            '  File "/workspace/deliver/backtest.py", line 412, in run\n    panel = build_panel(spec, tables)\n'
            '  File "/usr/lib/python3/dist-packages/pandas/core/frame.py", line 3893, in __getitem__\n'
            "KeyError: 'adj_close'\n\nRetried with mcp__fmp__historical-price-eod-full over http://127.0.0.1:8801/mcp, "
            "exit code 0, files in /workspace/deliver.\n"
        )
    )


@words("machinery-shown", "bt", "the message talks of grading and its rubric")
def _(it: Attempt) -> None:
    opened(
        it,
        "As the evaluation rubric asks for it, I passed the point-in-time check of the grader before the hidden cutoff.",
    )


@words("scaled-on-both-samples", "momentum", "ARMD#5, GAN#14, teddykoker/blog#3 (flaw 9)")
def _(it: Attempt) -> None:
    it.rewrite(
        "report.md",
        lambda text: text.replace(
            "Out of sample: the split was fixed before the first run and nothing was tuned.",
            "Out of sample: scaling and parameters were fitted on the whole sample, both parts included, and chosen after "
            "seeing the results of both.",
        ),
    )


@words("survivorship-unsaid", "wide", "FinRL#433, trader-bot2#82 (flaw 16): today's members for the past")
def _(it: Attempt) -> None:
    for name in ("report.md", "rules.md"):
        text = it.text(name)
        kept = "\n".join(line for line in text.split("\n") if "surviv" not in line.lower())
        (it.deliver / name).write_text(kept, encoding="utf-8")
    program = it.text("backtest.py")
    (it.deliver / "backtest.py").write_text(
        program.replace("surviv", "remain").replace("Surviv", "Remain"), encoding="utf-8"
    )


@words("numbers-from-nowhere", "bt", "half of the figures of the results stand in no table")
def _(it: Attempt) -> None:
    invented = "\n".join(
        f"- Return of drawer {chr(65 + n)}: {13.37 + 7.77 * n:.2f}%, Sharpe ratio {3.111 + 0.217 * n:.3f}."
        for n in range(20)
    )
    it.rewrite("report.md", lambda text: text.replace("## Limitations", f"{invented}\n\n## Limitations", 1))


@words("most-numbers-from-nowhere", "vectorbt", "most figures of the results stand in no table")
def _(it: Attempt) -> None:
    invented = "\n".join(
        f"- Return of drawer {n + 1}x: {13.37 + 7.77 * n:.2f}%, Sharpe ratio {3.111 + 0.217 * n:.3f}."
        for n in range(90)
    )
    it.rewrite("report.md", lambda text: text.replace("## Limitations", f"{invented}\n\n## Limitations", 1))
