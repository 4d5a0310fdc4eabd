"""Dimension 5.4: whether the stated requirements are said back, in one table, with own assumptions apart."""

import re

from evaluator.judge.rules.figures import figures
from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.topics import answered, is_question, numbers_given, topics_of
from evaluator.judge.rules.view import View, first, ruled
from records.judging import Finding

_REFLECTS = re.compile(
    r"understood|understand|heard|noted|you (?:want|asked|said|told|gave|specified|would like)|your (?:request|requirement|strategy|brief|choice|word|instruction|rule)|to confirm|recap|so far|as (?:you )?(?:requested|asked|specified)|here(?:'s| is) what|what i ran|per your|user|yours|as instructed|requirement"
)
_OWN = re.compile(
    r"my (?:own )?(?:assumption|choice|default)|own choice|assum(?:ed|ption)|i (?:chose|picked|defaulted|took)|chosen by me|mine\b|default\b|agent\b"
)
_CORRECT = re.compile(
    r"correct (?:me|any|anything|it|this)|(?:please |do )?(?:confirm|correct)\b|let me know (?:if|what|which)|tell me (?:if|what|which|where)|is (?:this|that) (?:right|correct)|anything (?:i|that)[^.]{0,30}(?:wrong|differ|missed)|if (?:any|anything|something)[^.]{0,40}(?:wrong|differ|off|change)|change (?:any|anything)|does (?:this|that) match"
)


def judge(view: View) -> Finding:
    """Return the finding of 5.4."""
    users = [text for text in view.talk if text.role == "user"]
    wanted = set().union(*(answered(text) for text in users)) if users else set()
    replies = [piece for text in view.said for piece in text.pieces if not is_question(piece)]
    if not wanted or not replies:
        return ruled("5.4", 0, "nothing of the request is said back")
    context = any(_REFLECTS.search(piece.low) for piece in replies)
    reflected = {topic: piece for piece in replies for topic in topics_of(_low(piece)) & wanted if _says(piece)}
    reflected |= {t: p for p in replies if p.kind == "row" for t in topics_of(_low(p)) & wanted}
    pieces = list(reflected.values())
    if not reflected or not context:
        return ruled("5.4", 0, "no message says the request back", pieces)
    wrong = _wrong_numbers(view, replies)
    if wrong:
        return ruled("5.4", 1, f"says it back with other numbers: {', '.join(wrong)}", pieces)
    missing = sorted(wanted - set(reflected))
    if missing and len(missing) > len(wanted) // 5:
        return ruled("5.4", 2, f"not said back: {', '.join(missing)}", pieces)
    in_table = {topic for piece in replies if piece.kind == "row" for topic in topics_of(_low(piece)) & wanted}
    own, asks = first(replies, _OWN), first([p for text in view.said for p in text.pieces], _CORRECT)
    if len(in_table) >= max(2, 0.8 * len(wanted)) and own is not None and asks is not None:
        return ruled(
            "5.4",
            4,
            "one table holds every stated part, own assumptions are marked, correction is asked for",
            [*pieces, own, asks],
        )
    lacking = [
        name
        for name, here in (
            ("one table", len(in_table) >= 0.8 * len(wanted)),
            ("own assumptions", own),
            ("a call for correction", asks),
        )
        if not here
    ]
    return ruled("5.4", 3, f"every stated part is said back; missing: {', '.join(lacking)}", pieces)


def _low(piece: Piece) -> str:
    return piece.low.replace("_", " ")


def _says(piece: Piece) -> bool:
    return piece.kind in ("bullet", "row") or len(piece.text.split()) >= 4


def _wrong_numbers(view: View, replies: list[Piece]) -> list[str]:
    given = [stated for text in view.talk if text.role == "user" for stated in numbers_given(text)]
    wrong = []
    for topic in ("cost", "count"):
        own = {round(s.figure.value, 9) for s in given if s.topic == topic}
        unit = "bps" if topic == "cost" else ""
        told = set()
        for piece in replies:
            if topic in topics_of(_low(piece)) and (topic == "cost" or re.search(r"hold|names|top", _low(piece))):
                told |= {round(f.value, 9) for f in figures(_low(piece)) if f.unit == unit}
        if own and told and not own & told:
            wrong.append(topic)
    return wrong
