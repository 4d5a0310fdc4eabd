"""Dimensions 6.2 and 6.5: messages say what was done and what comes next, and which delivered files changed."""

import re
from pathlib import PurePosixPath

from evaluator.measure.case import Case
from evaluator.measure.disclosure import agent_texts, share
from records.grade import Judgement

_DONE = re.compile(
    r"\b(?:i|we)(?:'ve| have)?\s+(?:(?:now|also|just|already|then)\s+)?"
    r"(?:\w+ed|ran|built|made|took|got|wrote|found|put|set|understood|did|kept|gave|chose|read|saw|went|have)\b"
    r"|\b(?:is|are|was|were|has been|have been)\s+(?:now\s+)?(?:done|ready|complete\w*|deliver\w*|finished|updated|changed|fixed|rebuilt)\b"
    r"|^\s*(?:done|finished|completed)\b|\bso far i understood\b|\bthank you, (?:that|i have)\b",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT = re.compile(
    r"\bnext\b|\b(?:i|we)(?:'ll| will| shall| am going to| plan to)\b|\bthen i\b|\bbefore i\b|\bonce you\b|\bawait|\bwait(?:ing)? for\b"
    r"|\b(?:please|kindly)\b|\blet me know\b|\btell me\b|\bcould you\b|\bwould you\b|\bdo you\b|\?\s*$|\bstill open\b",
    re.IGNORECASE | re.MULTILINE,
)
_CHANGED = re.compile(
    r"\bchang|\bupdat|\bre-?ran\b|\brerun\b|\bre-?run\b|\brevis|\bcorrect|\bfix|\banew\b|\bagain\b|\breplac|\brebuil|\bregenerat|\brewr|\badjust|\bnew version\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:every|all)(?: of)?(?: the| my| your)?(?: delivered| other)? (?:table|file|result|deliverable|output|figure)s?\b|\beverything\b",
    re.IGNORECASE,
)


def judge_narration(case: Case) -> Judgement:
    """Return the verdict of 6.2."""
    texts = agent_texts(case)
    both = [turn for turn, text in texts if _DONE.search(text) and _NEXT.search(text)]
    evidence = [
        f"turn {turn}: no word on {'what was done' if not _DONE.search(text) else 'what is next'}"
        for turn, text in texts
        if turn not in both
    ]
    return share(
        "6.2", len(both), len(texts), ("messages of the agent", "say what was done and what is next"), evidence
    )


def judge_changes(case: Case) -> Judgement:
    """Return the verdict of 6.5."""
    said = dict(agent_texts(case))
    before: dict[str, str] = {}
    changed = named = 0
    evidence: list[str] = []
    for turn in case.delivery.turns:
        text = said.get(turn.turn, "")
        lost = []
        for entry in turn.files:
            if entry.path in before and before[entry.path] != entry.sha256:
                changed += 1
                if _is_named(entry.path, text):
                    named += 1
                else:
                    lost.append(entry.path)
            before[entry.path] = entry.sha256
        if lost:
            evidence.append(f"turn {turn.turn}: changed without a word: {', '.join(lost[:8])}")
    return share("6.5", named, changed, ("changed files", "are named"), evidence)


def _is_named(path: str, text: str) -> bool:
    if not _CHANGED.search(text):
        return False
    plain = text.lower()
    words = re.findall(r"[a-z0-9]+", PurePosixPath(path).stem.lower())
    spoken = words and all(re.search(rf"\b{re.escape(word)}", plain) for word in words)
    return bool(_ALL.search(text) or PurePosixPath(path).name.lower() in plain or spoken)
