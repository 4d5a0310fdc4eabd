"""What a user's sentence does with a phrase: affirm it, deny it, repeat the agent's words, or ask."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from evaluator.compare.numbers import Number, numbers

Stance = Literal["affirmed", "negated", "quoted", "asked"]

_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "−": "-", "–": "-", "—": " - ", "‑": "-"})
_SPLIT = re.compile(r"(?<=[.!?])[\"')]*\s+|\n+")
_CLAUSE = re.compile(r"[,;:](?!\d)|\bbut\b|\s-\s|\bor rather\b|\band (?=(?:i|no|not|yes|please|orders?)\b)")
_CODE = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)

_REFUSING_VERB = (
    r"(?:use|employ|want|time|need|care|like|have|apply|believe|do|average|weight|size|mean|say|ask|set|run|rank"
    r"|screen|blend|combine|mind|bother|know|target|scale|cap|limit|split|spread|stage|charge"
    r"|asked|said|told|mentioned|wanted|requested|agreed|meant)"
)
_REFUSAL = re.compile(
    r"(?:don't|do not|doesn't|does not|didn't|did not|never|won't|will not|wouldn't|would not|not going to|rather you did not"
    rf"|rather not|no need to)\s(?:\w+\s){{0,2}}?{_REFUSING_VERB}\b"
)
_NEAR_NEGATOR = re.compile(
    r"(?:^|\W)(?:no|not|without|nor|neither|rather than|instead of|skip|drop|forget|ignore|isn't|aren't|no clue what)"
    r"(?:\s+[\w'-]+){0,3}\s*$"
)
_NEGATOR_AT_ONCE = re.compile(
    r"(?:\b(?:don't|do not|doesn't|never|won't|wouldn't|can't|shouldn't)\s+(?:ever |please |just |really |go )?|\banything but\s+)$"
)
_CORRECTION = re.compile(
    r"\b(?:no,? wait|wait,? no|i mean|i meant|make (?:that|it)|or rather|scratch that|correction|sorry|actually|rather(?! than))\b"
)
_CORRECTION_CHARS = 25
_CORRECTS = re.compile(r"^(?:no,? )?(?:wait|sorry|i mean|i meant|make (?:that|it)|or rather|scratch that|correction)\b")
_YES = re.compile(r"^(?:yes|yep|yeah|exactly|correct|right|sure|please do|absolutely|of course)\b(?! or no)")
_REJECTED_AFTER = re.compile(
    r"(?:isn't|is not|aren't|are not|wasn't|was not) (?:how|what|my|the way|right|it\b|mine|part|something|for me)"
    r"|(?:\bis|\bare|\bwas|\bwere|'s|'re) (?:plain |simply |just |all |both |clearly |completely |not )?(?:wrong|incorrect|off\b|mistaken|not right|not correct|untrue|made up|news to me|alien|foreign)|\bnot (?:right|correct|true|so|agreed|approved|ok|okay|confirmed)\b"
    r"|(?:sounds?|seems?|looks?|feels?|reads?|strikes me as) (?:\w+ )?(?:low|high|odd|wrong|strange|weird|off|tight|loose|steep|excessive|rich|arbitrary|alien|foreign|unfamiliar|random|unlike me|bad|small|big|large)\b"
    r"|^\W{0,3}(?:nah|nope|no way|no thanks|hell no|god no|never|forget it|drop (?:it|that)|scrap (?:it|that)|remove (?:it|that)|take (?:it|that) out|strike (?:it|that)|not for me|no)(?:[\s.,!;]|$)(?!(?:more|less|later|longer|higher|lower|other|problem)\b)|,\s?(?:no|nope|nah|wrong)\W*$"
    r"|there (?:is|are|was|were) (?:none|no such|nothing)|there (?:isn't|aren't|wasn't) (?:any|one|such)|\bi have none\b|no such (?:thing|rule)|where did (?:you|that|this)|(?:don't|do not|won't|never) (?:want|like|need|use|do|recogni[sz]e|have|run|trust) (?:those|these|that|them|it|any|one|this|either)\b|never (?:asked|said|mentioned|wanted|told|agreed)|didn't (?:ask|say|want|mention|request|tell)|did not (?:ask|say|want|mention|request|tell)|not from me|nobody asked"
    r"|deviates? from|off-protocol"
    r"|not (?:what|how|my|mine|it\b|the way|for me)|doesn't (?:match|fit)|does not (?:match|fit)|departs? from"
)
_OWN = re.compile(
    r"^\W*(?:so |and |then |instead,? |rather,? |no,? |here |the (?:right|correct) (?:\w+ )?is )?(?:i(?:'d|'m|'ve|'ll)?\b|my\b|mine\b|we\b|our\b|it should|should be|make it|change (?:it|that|this) to|use\b|please use|switch to|set it|go with|it's\b|it is\b|what i (?:want|do|use|run)|the real one|instead)"
)
"""A part of a sentence in which the user speaks for himself, whatever was quoted beside it."""
_YES_TO = re.compile(
    r"\b(?:yes|yep|yeah|ok|okay|agreed?|confirm(?:ed)?|happy|fine|thumbs up|go ahead|good)\s(?:to|on|with|for|about|as to)\s(?:\w+\s){0,2}$"
)
_LIMIT = re.compile(
    r"\b(?:more|bigger|larger|greater|higher) than|\bexceed\w*|\babove\b|\bbeyond\b|\bover\b|\bpast\b|\btop\b|\bbreach\w*"
)
"""'Never more than a share' denies the excess, not the share."""
_OUTCOME = re.compile(
    r"\b(?:chart|curve|plot|in sample|back in)\b|\b(?:in|during|of) (?:19|20)\d\d\b|\b(?:was|were|came in|turned out|happened|occurred|suffered)\b"
)
_RULE_WORDS = re.compile(
    r"\b(?:stops?|exit\w*|cash|out|sell\w*|cuts?|limit|tolerat\w*|max\w*|target\w*|level|threshold|my|i|i'm|we|per|bps|at)\b"
)
_TOO = re.compile(r"\btoo (?:loose|tight|high|low|much|little|wide|big|small)\b")
_ATTRIBUTED = re.compile(
    r"\b(?:you(?:'ve|'d|'re)?|your (?:\w+ )?(?:report|plan|draft|table|proposal|file|version|message|note|chart|curve|plot|backtest|summary|code|spec|sheet|list|run|text|reply|email|specification|write-?up))\s(?:have |had |just |also |already )?"
    r"(?:said|say|wrote|write|proposed?|propose|put|suggest\w*|assum\w*|used|set|report\w*|chose|picked|mention\w*|list\w*|show\w*|has|have|says?|reads?|put\w*|takes?|claim\w*|stat(?:e|ed)|quot\w+|using)\b"
    r"|\bas you\b|\byour \d|\b(?:in|from|on|per) your (?:\w+ )?(?:report|plan|draft|table|results?|numbers?|file|chart|summary|spec|note|message|code|list|proposal|write-?up)\b"
)
_CONFIRMED = re.compile(
    r"\b(?:that's|that is|it's|which is|is|are|sounds|looks|both|all)\s(?:\w+\s)?(?:fine|right|correct|good|ok|okay|exactly|mine|it\b|spot on|perfect|great|true|accurate|as it should|what i (?:want|meant|had in mind|do|run|use))"
    r"|(?<!not )(?<!isn't )(?<!aren't )\b(?:bang on|spot on|dead right|nailed it|(?:leave|keep|stick with|stay with|hold on to|go ahead with) (?:it|that|this|them|those|as is)|leave (?:it |that |them )?as (?:it is|is|they are)|fine (?:by|with|for) me|(?:good|ok|okay|cool|happy) (?:with|by|for)|suits me|all good|no (?:objections?|complaints?|change|changes)|(?:right|good|great) call|approved?|confirm(?:ed)?|i(?:'ll| will) take (?:it|that)|that works|works\b|perfect|love it|yup|yeah|aye|indeed|affirmative|ditto|true|correct|right|fine|sounds good|looks good|me too|same here|accurate|precisely|exactly so|please do|do (?:it|that)|thumbs up|good to go)\b(?!\?)"
    r"|\byes\b|\byep\b|\bagreed?\b|\bexactly\b|\bcorrect\b|as you (?:proposed|suggested|said|wrote)|go with|keep (?:it|that)|happy with|works for me"
)
_REQUEST = re.compile(r"\b(?:can|could|would|will) you\b|\bplease\b|\bi(?:'d| would) like\b|\bi want\b")


@dataclass(frozen=True)
class Sentence:
    """One sentence of a user's message, normalised, and the short one that follows it."""

    text: str
    after: str


def normalise(text: str) -> str:
    """Return the text in lower case with plain quotes and dashes and single spaces inside lines."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES).lower()
    return re.sub(r"[ \t\u00a0]+", " ", plain)


def sentences(message: str) -> list[Sentence]:
    """Return the message's sentences in order; code blocks and lines quoted with '>' are left out."""
    parts = [part.strip() for part in _SPLIT.split(normalise(_CODE.sub("\n", message)))]
    parts = _with_corrections([part for part in parts if part])
    return [Sentence(part, parts[n + 1] if n + 1 < len(parts) else "") for n, part in enumerate(parts)]


def _with_corrections(parts: list[str]) -> list[str]:
    """Join a short sentence that takes back the one before ("... no wait, 15%") to it."""
    joined: list[str] = []
    for part in parts:
        if joined and _CORRECTS.match(part) and len(part.split()) <= 8:
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    return joined


def is_outcome(text: str) -> bool:
    """Whether a sentence tells what a run did in the past rather than what a rule asks for."""
    return _OUTCOME.search(text) is not None and not (_ATTRIBUTED.search(text) or _RULE_WORDS.search(text))


def is_corrected(text: str, number: Number) -> bool:
    """Whether the sentence takes a number back and puts another one in its place."""
    hit = _CORRECTION.search(text, number.end)
    if hit is None:
        return False
    following = [other for other in numbers(text) if hit.end() <= other.start <= hit.end() + _CORRECTION_CHARS]
    return any(other.unit in (number.unit, None) and other.value != number.value for other in following)


def stance(sentence: Sentence, start: int, end: int, *, negation_belongs: bool = False) -> Stance:
    """Return what the sentence does with the phrase at [start, end).

    Args: negation_belongs: the conviction itself is a denial ("no lottery-like jumps"), so only a refusing verb denies it.
    """
    text = sentence.text
    clause_start = max((hit.end() for hit in _CLAUSE.finditer(text, 0, start)), default=0)
    before, after = text[clause_start:start], text[end:]
    inside = f"{before} {text[start:end]}"
    is_limit = negation_belongs and _LIMIT.search(inside) is not None
    if (_REFUSAL.search(before) and not is_limit) or (not negation_belongs and _NEAR_NEGATOR.search(before)):
        return "negated"
    if not negation_belongs and _NEGATOR_AT_ONCE.search(text[:start]):
        return "negated"
    if _YES_TO.search(before):
        return "affirmed"
    if _REJECTED_AFTER.search(after) or _REJECTED_AFTER.search(text[start:end]):
        return "negated"
    if _ATTRIBUTED.search(text) and not _speaks_for_himself(text, clause_start, end):
        return _stance_on_quote(sentence)
    if text.rstrip("\"')").endswith("?") and not _REQUEST.search(text):
        return "affirmed" if _YES.match(sentence.after) else "asked"
    return "affirmed"


def _speaks_for_himself(text: str, clause_start: int, end: int) -> bool:
    """Whether the part of the sentence around a phrase is the user's own word and the quote stands in another part."""
    following = _CLAUSE.search(text, end)
    clause = text[clause_start : following.start() if following else len(text)]
    return _OWN.search(clause) is not None and _ATTRIBUTED.search(clause) is None


def _stance_on_quote(sentence: Sentence) -> Stance:
    """A repeated word of the agent counts only when the same breath agrees with it."""
    follow_up = sentence.after if len(sentence.after.split()) <= 5 else ""
    if any(pattern.search(text) for pattern in (_REJECTED_AFTER, _TOO) for text in (sentence.text, follow_up)):
        return "negated"
    return "affirmed" if _CONFIRMED.search(sentence.text) or _CONFIRMED.search(follow_up) else "quoted"
