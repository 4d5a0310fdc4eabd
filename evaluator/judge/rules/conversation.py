"""Dimension 5.1: whether the agent asks the right things early, acts on the answers, and says where things stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from evaluator.judge.rules.figures import figures
from evaluator.judge.rules.text import Piece, Text
from evaluator.judge.rules.topics import Stated, answered, is_question, leaves_open, numbers_given, questions, topics_of
from evaluator.judge.rules.view import View, first, ruled
from records.judging import Finding

_HOSTILE = re.compile(
    r"\b(?:stupid|idiot\w*|moron|dumb|shut up|nonsense question|waste (?:of )?my time|wasting my time|not my (?:problem|job)|figure it out (?:yourself|on your own)|you clearly (?:don'?t|do not)|your fault|you people|ridiculous|pathetic|clueless|stop (?:asking|bothering|wasting|complaining)|don'?t (?:bother|waste|tell me)|whatever\.|read it yourself|i don'?t care|learn (?:some|the) basics|obviously you|are you even|can'?t you read|google it"
    r"|take it or leave it|(?:not|never) going to (?:explain|answer|repeat|discuss|argue|justify)|(?:won'?t|will not|refuse to) (?:explain|answer|repeat|discuss|argue|justify|change it)|deal with it|if you don'?t like it|you wouldn'?t understand|do it yourself|suit yourself|none of your (?:business|concern)|not up for (?:debate|discussion)|(?:have )?better things to do|find (?:someone|somebody|another)|your (?:idea|strategy|question|request)s? (?:is|are|makes?) (?:no sense|garbage|nonsense|worthless|rubbish|silly|childish|naive)|(?:any|every) (?:beginner|child|amateur)|silly question|enough (?:questions|already|of your)|stop (?:nagging|whining)|i(?:'m| am) the expert|(?:you|that)(?:'re| are|'s| is) (?:being )?(?:difficult|slow|annoying|tiresome)|calm down|your problem|that is all you (?:get|will get)|that'?s all you(?:'ll)? get|you(?:'ve| have)? no (?:idea|clue)|no one asked you|i(?:'ll| will) not (?:repeat|explain))\b"
)
_COMPLAINT = re.compile(
    r"already (?:told|said|answered|gave|given|mentioned|explained|specified|stated)|as i (?:said|told|mentioned|wrote)|i (?:just )?(?:told|said) (?:you|that|so|it)|i said\b|told you|again[,:]? (?:i|you|please|the)|you(?:'ve| have)? (?:ignored|forgot\w*|missed|skipped|overlooked)|(?:not|isn'?t|wasn'?t) what i (?:asked|said|wanted|meant|requested)|did(?:n'?t| not) (?:ask for|answer|use|do what|listen|request|read)|why (?:do|are|did|would) you (?:keep|ask|still|ignore)|still (?:no|not|waiting|using|wrong|haven'?t|missing)|same question|asked (?:for|you) (?:this|that|it)? ?(?:twice|again|before|already)|are you (?:listening|reading)|please (?:just )?(?:listen|read)|you keep|for the (?:second|third) time|once more|where is|never asked|did you (?:even )?read|repeat(?:ing)? myself|what about my|you (?:haven'?t|have not|didn'?t|did not) (?:answer|respond|address|use|change|do)"
)
_GAVE_UP = re.compile(
    r"forget it|never mind|i give up|(?:nothing'?s happening|so),? i'?m done|this is (?:useless|pointless)|not helpful|going elsewhere|frustrat|enough of this"
)
_UNDERSTOOD = re.compile(
    r"(?:i|we) (?:have )?(?:understood|understand|heard|noted|gather|take it)|so far|here(?:'s| is) (?:what i (?:have|understood|heard|ran|built|used|take)|my understanding|your (?:request|strategy|brief)|how i read)|to (?:confirm|recap|summari[sz]e|restate)|my understanding|what i understood|as i understand|got it[:,-]|i(?:'ve| have) (?:your|noted|got|set)|understood[:,.-]|confirmed[:,]|you (?:want|asked for|said|told me|gave|specified|would like)|your (?:requirements?|request|choices|strategy|brief)|as you (?:asked|said|specified|requested|wanted)|this is what i ran|recap"
)
_OPEN = re.compile(
    r"(?:still|remains?|is|are|left|points?|items?|questions?) open|open (?:questions?|points?|items?|issues?|:)|need (?:from you|your|to know|one|two|a few|you to)|not (?:yet )?(?:specified|settled|decided|clear|stated)|(?:my|own) (?:assumptions?|choices?)|assum(?:ed|ption|ing)|undecided|before i (?:run|start|build|begin|go|proceed)|please (?:confirm|correct|tell|let me know)|correct (?:me|any|anything)|to (?:be )?(?:confirm|settle|decide)|nothing (?:is |remains |else )?(?:left )?open|no open|would like your|let me know|unless you|i (?:chose|picked|defaulted)"
)
_NEXT = re.compile(
    r"\bnext(?:,| i| step|:| up| we| you)|then i(?:'ll| will)|once (?:you|i have|that|these|confirmed)|after (?:that|your|you)|i(?:'ll| will) (?:then |now )?(?:run|build|fetch|deliver|start|send|prepare|do|update|rerun|re-run|change|test|begin|proceed|pull|wait|take|use|return|have)|what(?:'s| is| comes) next|from here|if you(?:'d| would)? (?:like|want|agree|prefer)[^.]{0,40}i can|as soon as|upon your"
)
_DELIVERED = re.compile(
    r"(?:is|are|have been|has been|i(?:'ve| have)|now) (?:all )?(?:done|ready|finished|delivered|complete[d]?|attached|run|built|updated|changed|rerun|re-run|produced|prepared|written|corrected|fixed|implemented|added|set|switched)|attached|deliver(?:ed|ables?)|here (?:is|are) (?:the|your) (?:\w+ )?(?:results?|report|backtest|files|numbers)|results?:|the (?:backtest|report|strategy) (?:returned|shows|is in|made|earned|ended|finished)|(?:sharpe|total return|cagr)[^.]{0,30}\d|\breport\.(?:md|html)|^done\b|\bupdated\b|\breran\b|\bre-ran\b"
)
_STALLING = re.compile(
    r"working on it|one moment|bear with me|stand by|please wait|i(?:'ll| will) get (?:started|back|to work)|give me (?:a|some) (?:moment|time|minute)|shall i (?:proceed|start|begin)\??|ready to (?:start|begin|proceed)\?|may i (?:proceed|start)|would you like me to (?:proceed|start|begin|go ahead)|in progress|still running|hold on|coming (?:soon|up)|just a (?:moment|second)"
)
_SETTLING = re.compile(
    r"exact|precise|which (?:one|of)|how many|at what|level|percent|window|specific|confirm|more (?:exactly|precisely)"
)
_OFFERS = re.compile(
    r"let me know if|anything else|would you like (?:me to|to see|another|a\b)|want me to|shall i|tell me if (?:any|one|something|anything)"
)
"""Offers of more; they ask for nothing that is needed."""
_REPAIRS = re.compile(
    r"you(?:'re| are|’re) right|my (?:mistake|error|fault|bad)|apolog|\bsorry\b|\b(?:corrected|fixed|changed|reran|re-ran|rerun|repaired|amended|updated)\b|\bi had (?:a|an)\b|\bnow\b[^.]{0,60}\b(?:goes|uses|is|are|follows|stays|fills)\b|good catch|thanks for (?:catching|spotting)"
)
_CURT_WORDS = 45
_REFUSES = re.compile(
    r"^(?:no|nope|never)\b[.,!;]? (?!stops?|filter|cost|problem|worries|need|change)|\b(?:i |we )(?:won'?t|will not|refuse|decline|am not going|'m not going|do not (?:do|change|explain|discuss|take)|don'?t (?:do|change|explain|discuss|take))\b|\b(?:is|are|stays?|remains?) (?:final|as (?:it|they) (?:is|are))\b|\bnot (?:changing|my task|going to happen|interested|negotiable)\b|\bi decide\b"
)
_SOFTENS = re.compile(
    r"because|since\b|unless|instead|however|but i (?:can|could)|i (?:can|could)\b|sorry|apolog|unfortunately|as the data|reason|if you (?:like|want|prefer)|does not (?:cover|have|exist)|not available|please"
)
_CLOSE = re.compile(r"\b(?:at|on) (?:the )?(?:next|following)[^.]{0,16}clos|next(?: day'?s?| session'?s?)? clos")
_OPEN_FILL = re.compile(r"\b(?:at|on) (?:the )?(?:next|following)[^.]{0,16}open|next(?: day'?s?| session'?s?)? open")
_WALL = 3_500
"""Characters of a message after which a client scrolls (about six hundred words)."""
_WORD = re.compile(r"[a-z][a-z0-9&'-]{3,}")
_COMMON = frozenset(
    (
        *("this", "that", "with", "have", "from", "what", "when", "which", "would"),
        *("could", "should", "there", "their", "about", "your", "please", "want", "like"),
        *("need", "just", "make", "them", "they", "then", "than", "into", "also"),
        *("some", "only", "very", "more", "most", "will", "been", "were", "does"),
        *("show", "tell", "give", "know", "think", "using", "used", "each", "every"),
        *("where", "same", "still", "thanks", "thank", "here"),
    )
)


@dataclass
class Record:
    """What happened in a conversation."""

    asked: list[int] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    complaints: list[Piece] = field(default_factory=list)
    redundant: list[str] = field(default_factory=list)
    """Asked although the user had said it unasked."""
    wasted: list[str] = field(default_factory=list)
    walls: list[str] = field(default_factory=list)
    hostile: list[Piece] = field(default_factory=list)
    late: bool = False
    overruled: list[str] = field(default_factory=list)
    """An answer that a later message of the agent went against, be it repaired afterwards."""
    repaired: bool = False
    """Every complaint was met by the next reply."""
    acts: bool = False


def judge(view: View) -> Finding:
    """Return the finding of 5.1."""
    told = [text for text in view.said if text.pieces]
    if not told:
        return ruled("5.1", 0, "the agent says nothing")
    record = _record(view)
    worst = _worst(view, record)
    if worst is not None:
        return worst
    users = [text for text in view.talk if text.role == "user"]
    pieces = [*record.complaints[:4], *(p for text in told[:2] for p in list(questions(text))[:2])]
    flaws = [*record.ignored, *record.repeated, *record.wasted]
    if len(record.redundant) >= 2:
        flaws.append(f"asks what the request says ({'; '.join(record.redundant)})")
    if not record.acts:
        flaws.append("nothing was delivered")
    if record.late:
        flaws.append("questions came after the work")
    if not record.asked and not _opening_says_all(users):
        flaws.append("nothing was asked about what the request left open")
    if len(record.asked) > 3:
        flaws.append("questions over more than three turns")
    flaws += record.overruled
    if record.complaints and not (len(record.complaints) == 1 and record.repaired):
        flaws.append("the user had to complain")
    serious = [flaw for flaw in flaws if flaw not in record.wasted]
    if serious:
        return ruled("5.1", 2, f"usable, but {'; '.join(dict.fromkeys(serious[:5]))}", pieces)
    return _fine(told, record, pieces)


def _fine(told: list[Text], record: Record, pieces: list[Piece]) -> Finding:
    everything = [piece for text in told for piece in text.pieces]
    marks = {
        "what was understood": first(everything, _UNDERSTOOD),
        "what is open": first(everything, _OPEN),
        "what comes next": first(everything, _NEXT),
    }
    lacking = [name for name, piece in marks.items() if piece is None] + record.wasted + record.redundant
    shown = [*pieces, *(piece for piece in marks.values() if piece is not None)]
    if lacking:
        return ruled("5.1", 3, f"asks early and acts on the answers; missing or wasted: {', '.join(lacking)}", shown)
    return ruled(
        "5.1", 4, "asks early, acts on every answer, says what was understood, what is open and what is next", shown
    )


def _worst(view: View, record: Record) -> Finding | None:
    record.hostile += _refusals(view)
    if record.hostile:
        return ruled("5.1", 0, "the agent is hostile", record.hostile)
    users = [text for text in view.talk if text.role == "user"]
    statements = max(1, len(users) - 1)
    bad = len(record.ignored) + len(record.complaints)
    if (len(record.ignored) >= 2 and bad > statements) or (record.ignored and len(record.complaints) >= 2):
        return ruled("5.1", 0, f"ignores what the user says: {'; '.join(record.ignored[:4])}", record.complaints)
    return _no_talk(view, record) or _tiring(record)


def _no_talk(view: View, record: Record) -> Finding | None:
    """Level 0 where the agent's turns are no part of a conversation."""
    if not record.acts and not record.asked and not record.walls:
        return ruled("5.1", 0, "the agent neither asks nor delivers", [t.pieces[0] for t in view.said if t.pieces])
    if _incoherent(view):
        return ruled(
            "5.1",
            0,
            "the replies have nothing to do with what the user says",
            [t.pieces[0] for t in view.said if t.pieces],
        )
    return None


def _tiring(record: Record) -> Finding | None:
    """Level 1: asks again what was answered, or writes at length beside the request."""
    again = [*record.repeated, *record.redundant]
    asked_twice = sum(line.count(",") + 1 for line in record.repeated)
    needless = sum(line.count(",") + 1 for line in record.redundant)
    both = asked_twice > 0 and needless > 0
    if asked_twice >= 2 or needless >= 4 or both or (again and record.complaints):
        return ruled("5.1", 1, f"asks again what was answered: {'; '.join(again[:4])}", record.complaints)
    is_wall = bool(record.walls) and bool(record.complaints or not record.acts)
    if is_wall or len(record.complaints) >= 3:
        walls = f"long unrequested text with the request unmet ({', '.join(record.walls)})"
        return ruled("5.1", 1, walls if is_wall else "the user complains again and again", record.complaints)
    return None


def _record(view: View) -> Record:
    record = Record(acts=view.has_tables or view.report is not None)
    known: set[str] = set()
    asked_before: dict[str, int] = {}
    numbered: set[str] = set()
    said = 0
    open_talk = list(view.talk)
    for at, text in enumerate(open_talk):
        if text.role == "user":
            _hear(text, record, first_message=said == 0)
            known |= answered(text)
            numbered |= {stated.topic for stated in numbers_given(text)}
            if said and (text.pieces and (leaves_open(text) or len(text.pieces) <= 3)):
                known |= _short_answers(text, open_talk[at - 1] if at else None)
            continue
        said += 1
        _weigh(text, record, known, asked_before, numbered, said)
    _unheeded_numbers(view, record)
    _overruled(view, record)
    _unanswered(view, record)
    record.repaired = all(_is_repaired(piece, view) for piece in record.complaints)
    return record


def _is_repaired(complaint: Piece, view: View) -> bool:
    at = next((n for n, text in enumerate(view.talk) if complaint in text.pieces), len(view.talk))
    reply = next((text for text in view.talk[at:] if text.role != "user"), None)
    return reply is not None and _REPAIRS.search(reply.raw.lower()[:4_000]) is not None


def _refusals(view: View) -> Iterator[Piece]:
    """Yield the first words of replies that turn a request down in a few words, with no reason and no other way."""
    for before, reply in pairwise(view.talk):
        if before.role != "user" or reply.role == "user" or not reply.pieces:
            continue
        low = reply.raw.lower()[:2_000]
        is_curt = len(low.split()) <= _CURT_WORDS and _REFUSES.search(low) is not None
        if is_curt and not _SOFTENS.search(low) and not any(True for _ in questions(reply)):
            yield reply.pieces[0]


def _overruled(view: View, record: Record) -> None:
    """A reply that goes against a number or a fill price the user had given before it."""
    given: dict[str, Stated] = {}
    fill = ""
    for text in view.talk:
        if text.role == "user":
            given |= {stated.topic: stated for stated in numbers_given(text)}
            low = text.raw.lower()[:20_000]
            fill = "close" if _CLOSE.search(low) else "open" if _OPEN_FILL.search(low) else fill
            continue
        pieces = [p for p in text.pieces if not is_question(p)]
        for topic, stated in given.items():
            values = {value for piece in pieces for value in _numbers_on(topic, piece)}
            if values and not any(_same(value, round(stated.figure.value, 9)) for value in values):
                record.overruled.append(f"{topic}: an answer was not used in {text.doc}")
        low = " ".join(piece.low for piece in pieces)
        other = {"close": _OPEN_FILL, "open": _CLOSE}.get(fill)
        own = {"close": _CLOSE, "open": _OPEN_FILL}.get(fill)
        if other is not None and own is not None and other.search(low) and not own.search(low):
            record.overruled.append(f"execution: an answer was not used in {text.doc}")


def _hear(text: Text, record: Record, *, first_message: bool) -> None:
    if first_message:
        return
    record.complaints += [piece for piece in text.pieces if _COMPLAINT.search(piece.low) or _GAVE_UP.search(piece.low)][
        :2
    ]


def _short_answers(text: Text, before: Text | None) -> set[str]:
    """A brief reply, or one that leaves it to the adviser, answers what was just asked."""
    if before is None or before.role == "user":
        return set()
    asked = [topics_of(piece.low) for piece in questions(before)]
    everything: set[str] = set().union(*asked) if asked else set()
    spoken = set().union(*(topics_of(piece.low) for piece in text.pieces)) & everything
    if leaves_open(text):
        return everything
    return (spoken or everything) if len(asked) == 1 else set()


def _weigh(
    text: Text, record: Record, known: set[str], asked_before: dict[str, int], numbered: set[str], said: int
) -> None:
    record.hostile += [piece for piece in text.pieces if _HOSTILE.search(piece.low)]
    asks = [piece for piece in questions(text) if not _OFFERS.search(piece.low)]
    delivers = any(_DELIVERED.search(piece.low) for piece in text.pieces if not is_question(piece))
    _compare(text, asks, record, known=known, asked_before=asked_before, numbered=numbered)
    for piece in asks:
        for topic in topics_of(piece.low):
            asked_before.setdefault(topic, said)
    if asks:
        record.asked.append(said)
        record.late = record.late or (said > 2 and len(record.asked) == 1)
    record.acts = record.acts or delivers
    is_wall = len(text.raw) > _WALL and not asks and not delivers
    if is_wall or (len(text.raw) > 2 * _WALL and said == 1):
        record.walls.append(text.doc)
    stalls = any(_STALLING.search(piece.low) for piece in text.pieces)
    if not delivers and (not asks or (stalls and len(asks) <= 1)):
        record.wasted.append(f"{text.doc} neither asks nor delivers")


def _compare(
    text: Text,
    asks: list[Piece],
    record: Record,
    *,
    known: set[str],
    asked_before: dict[str, int],
    numbered: set[str],
) -> None:
    """Note the questions of a message whose answer the user had given before."""
    for piece in asks:
        about = topics_of(piece.low)
        settles = _SETTLING.search(piece.low) is not None and not about & numbered
        if not about or settles or about - known:
            continue
        again = {topic for topic in about if topic in asked_before}
        if again:
            record.repeated.append(f"turn {text.turn}: {', '.join(sorted(again))}")
        else:
            record.redundant.append(f"turn {text.turn}: {', '.join(sorted(about))}")


def _opening_says_all(users: list[Text]) -> bool:
    return bool(users) and len(answered(users[0])) >= 6


def _unheeded_numbers(view: View, record: Record) -> None:
    """A number the user gave, and another one for the same thing in what was said or delivered later."""
    given: dict[str, Stated] = {}
    for text in view.talk:
        if text.role == "user":
            for stated in numbers_given(text):
                given[stated.topic] = stated
    for topic, stated in given.items():
        later = [p for text in view.said if text.turn > stated.turn for p in text.pieces] + list(view.spec_pieces)
        used = [_numbers_on(topic, piece) for piece in later if not is_question(piece)]
        values = {value for found in used for value in found}
        own = {
            round(s.figure.value, 9)
            for t in view.talk
            if t.role == "user"
            for s in numbers_given(t)
            if s.topic == topic
        }
        if values and not any(_same(v, o) for v in values for o in own):
            record.ignored.append(f"{topic}: the user said {stated.figure.value:g}, later {min(values):g} is used")


def _numbers_on(topic: str, piece: Piece) -> set[float]:
    low = piece.low.replace("_", " ")
    if topic not in topics_of(low) or topic in ("execution", "timing"):
        return set()
    if topic == "risk" and not re.search(r"stop|target|cut|limit|threshold|control", low):
        return set()
    if topic == "risk" and re.search(r"maximum drawdown|max drawdown|drawdown (?:was|of)", low):
        return set()
    wanted = {"cost": ("bps",), "risk": ("%",), "capital": ("money",), "count": ("",)}[topic]
    found = set()
    for figure in figures(low):
        at = low[max(0, figure.start - 14) : figure.end + 14]
        if figure.unit in wanted and (topic != "count" or re.search(r"names|stocks|positions|holdings|top|hold", at)):
            found.add(round(figure.value, 9))
    return found


def _same(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-6 * max(1.0, abs(a))


def _unanswered(view: View, record: Record) -> None:
    """A user's question whose words the next reply does not take up at all."""
    talk = view.talk
    for at, text in enumerate(talk[:-1]):
        reply = talk[at + 1]
        if text.role != "user" or reply.role == "user" or at == 0:
            continue
        words = {word for piece in text.pieces if piece.low.endswith("?") for word in _content(piece.low)}
        heard = _content(reply.raw.lower()[:20_000])
        if words and not any(word[:5] == other[:5] for word in words for other in heard):
            record.ignored.append(f"{text.doc}: the user's question is not taken up")


def _content(low: str) -> set[str]:
    return {word for word in _WORD.findall(low) if word not in _COMMON}


def _incoherent(view: View) -> bool:
    """Whether the replies share no word with the talk, or are one sentence over and over."""
    said = [" ".join(text.raw.lower().split()) for text in view.said if text.pieces]
    if len(said) >= 2 and len(set(said)) == 1:
        return True
    theirs = {word[:6] for word in _content(view.user_text)}
    ours = {word[:6] for text in view.said for word in _content(text.raw.lower()[:20_000])}
    finance = bool(topics_of(" ".join(said)[:20_000]))
    return bool(theirs) and len(theirs & ours) <= 1 and not finance
