"""Whether a unit of an agent's message asks, proposes or reports, and which subjects outside the strategy it asks about."""

import re
from typing import Literal

ASK = re.compile(
    r"\?|_{3,}|\b(?:y/n|let me know|tell me|please (?:give|describe|specify|confirm|provide|fill|state|list|choose|pick|say"
    r"|explain|share|advise|clarify|indicate|answer|correct)|(?:could|can|would) you|do you|need (?:to know|your|you to|four|three|two"
    r"|a few|some|the following)|i'd (?:like to (?:know|pin|confirm|understand|clarify)|rather ask)|don't know (?:how|what|which|when|where)"
    r"|(?:not sure|unclear|unsure|wondering|wonder|uncertain)\b|your (?:view|take|call|preference|input|decision|answer)"
    r"|walk me through|what'?s your|help me understand|remind me|give me|kindly|advise|to be (?:decided|confirmed)|tbd|i (?:still )?(?:lack|need)\b|open (?:item|question|point)s?)\b"
)
QUESTION_WORD = re.compile(
    r"^(?:so |and |also,? |first:? |now,? |next:? )?(?:what|which|how|when|where|who|whether|is|are|do|does|should|shall|would"
    r"|could|can|will|any|did|at what|in what|over what|for what|to what)\b"
)
PROPOSE = re.compile(
    r"\b(?:i'?ll|i will|i'd|i would|i am going|i'm (?:going|thinking|planning|assuming|using)|i (?:plan|assume|propose|suggest|intend"
    r"|default|recommend|use|used|have set|set|stubbed|take|apply|applied|charge|charged|pencilled)|my (?:plan|draft|default|assumption|proposal|suggestion)"
    r"|assum\w+|defaults?|default(?:ing|ed)? to|unless|going with|happen in my|let's|we(?:'ll| will|'d| would)|propos\w+|provisional\w*|pencil+ed"
    r"|placeholder|planned|plan is|plan:|currently|for now|right now|used a|as (?:a|the) default|set to|i've (?:set|put|used|assumed)|set up to"
    r"|i went with|opted for|thinking of|go with|chose|confirm|correct me|summary so far|if i (?:understand|understood)|my understanding)\b|\bso:"
)
METRIC_RESULT = re.compile(
    r"\b(?:cagr|sharpe|sortino|calmar|drawdown|maxdd|max dd|return(?:s|ed)?|volatility|vol|turnover|hit rate|win rate|trades?|ret|peak-to-trough"
    r"|alpha|p&l|profit factor|loss)\b[^.?!]{0,40}?-?\d"
)
PROGRESS = re.compile(
    r"[✅✔☑]|\[x\]|\b(?:finished|(?<!, )done(?! in)|attached|saved|wrote|written|loaded|downloaded|failed|fixed|error|exception|traceback|rate limit|retry\w*"
    r"|installed|(?:is|are) in place|tests? (?:pass|green)|removed|cleaned|excluded|rows|tickers|no gaps|duplicates?|resum\w+|zip|chart|checked:|converge\w*"
    r"|running|rerunning|re-running|crash(?:ed)? (?:on|with|at)|line \d+|keyerror|valueerror|missing (?:values?|closes?))\b"
)
LOCKED_IN = re.compile(
    r"\b(?:unless you (?:object|stop|say|tell|prefer|disagree|want)|unless told|stop me|shout if|please correct|please confirm|can you confirm"
    r"|(?:which|any) of (?:these|this|them|those)|shall i (?:proceed|go|start|continue)|should i (?:proceed|go ahead|start)|ok to (?:proceed|go)"
    r"|does (?:this|that|it|the above) (?:\w+ )?(?:reflect|match|look|sound|work|fit|suit)|look(?:s)? (?:right|good|ok(?:ay)?)|any (?:objections?|changes?|corrections?)"
    r"|is (?:this|that|the above) (?:right|correct|ok(?:ay)?|fine)|if any (?:bullet|point|item|line)|need to change|(?:what|anything) (?:should|would|to) (?:you )?change"
    r"|agree\?|approve|sign off|good to go|thumbs up|are you (?:ok|okay|fine|happy|comfortable) with|happy with (?:this|that|these)|reply 'ok'"
    r"|(?:correct|strike|change|edit|cross out|fix|amend|overrule|override|adjust|flag|mark|veto) (?:any|whatever|what|the ones|anything|those|these|rows?|lines?)"
    r"|if i (?:hear|get) (?:nothing|no)|otherwise i(?:'ll| will)? (?:start|go|proceed|begin|build|run)|reply (?:to|with) (?:override|change)|to override|silence (?:means|is|counts)"
    r"|(?:correspond|tally|agree|fit|line up|in line) (?:to|with) (?:what|how|your)|what should (?:they|these|those|it) be|holler|yell|say so|see (?:it|any of this) differently"
    r"|let me know (?:if|whether|what|which)|speak up|read(?:ing)? back|(?:right|correct|ok|okay|fine|agreed|fair|good|happy|deal|sensible)(?: so far)?\?)(?:\b|(?<=\?))"
)
ASKING_LEAD = re.compile(
    r"\b(?:questions?|need (?:\w+ ){0,4}(?:from you|things|answers|to know|decisions|details|inputs?|confirm)|pin (?:a few|some|these|the following|down)"
    r"|fill in|the following|clarify|clarifications?|decisions?|cover(?:ing)?|tell me|describe|give me|let me know|your take|walk me through|specify"
    r"|please|confirm|lack|blanks|read back|correct|open (?:points|items|questions)|to know|need:|missing|before i (?:start|begin|write|build|code|run|go))\b|\?"
)
PROPOSING_LEAD = re.compile(
    r"\b(?:plan|draft|assum\w+|defaults?|proposal|propos\w+|set-?up|settings?|config\w*|spec\w*|design|going with|here's what i (?:have|plan|propose|intend)"
    r"|my understanding|i understand|summary so far|unless|as follows|i'll|i will|i would|i'd|parameters|choices|rules|strategy|intend\w*)\b"
)
RESULT_LEAD = re.compile(
    r"\b(?:results?|loaded|wrote|files?|cleanup|cleaned|removed|metrics?|performance|outcome|tests?|bug fix|done|finished|deliver\w*|attached|sources?|checks)\b"
)

Subject = Literal["dates", "universe", "holdings", "rebalance", "benchmark", "capital", "format"]
SUBJECTS: dict[Subject, re.Pattern[str]] = {
    "dates": re.compile(
        r"\b(?:date range|which (?:years|dates|period)|(?:test|sample|back-?test) (?:window|period|start|end)|over which years|what (?:period|dates|years|time ?frame)"
        r"|time ?(?:frame|span|period|range)|how far back|start(?:ing)? (?:date|year)|end date|history to use|20\d\d (?:to|-|through) )\b"
    ),
    "universe": re.compile(
        r"\b(?:universe|which (?:names|tickers|symbols) (?:are )?(?:in|to)|your basket|large caps only|everything listed|delisted|which (?:exchange|market|country)|adrs?|otc"
        r"|small caps too|scope|stock pool|index members|s&p 500 (?:members|constituents))\b"
    ),
    "holdings": re.compile(
        r"\b(?:how many (?:names|stocks|positions|holdings|companies|tickers)|number of (?:names|stocks|positions|holdings|companies)|portfolio size|top (?:n|\d+)\b(?=[^.]*\?)"
        r"|how concentrated|n_holdings|names at a time)\b"
    ),
    "rebalance": re.compile(
        r"\b(?:rebalanc\w*|how often|frequency|(?:weekly|monthly|quarterly|daily|annually)[^.?]{0,30}\?|turn over|holding period|review(?:ed)? the (?:book|portfolio))"
    ),
    "benchmark": re.compile(
        r"\b(?:benchmarks?|compare (?:it |this |them )?(?:to|against|with)|(?:results|it) against|s&p comparison)\b"
    ),
    "capital": re.compile(
        r"\b(?:starting (?:capital|balance|cash|amount)|initial (?:capital|investment|cash)|how much (?:capital|money) (?:do|are|should|will) (?:you|i|we)(?: start| begin| have| assume)?|account size|start with \$)\b"
    ),
    "format": re.compile(
        r"\b(?:csv|parquet|pdf|web page|html|excel|xlsx|notebook|format|output|deliverables?|charts?|plots?|language|dividends? (?:be )?reinvest\w*|risk[- ]free|currency|broker|tax(?:es)?|leverage|short(?:ing| selling)?)\b"
    ),
}

GENERAL = re.compile(
    r"\b(?:everything|anything|all (?:the |your )?(?:details|rules|parameters|requirements|preferences|decisions|information)|more (?:details?|about|information)|what else|elaborate"
    r"|the (?:whole|entire|full|complete) (?:strategy|picture|plan|thing|approach|idea|story)|(?:your|the) (?:\w+ )?(?:strategy|approach|idea|plan|preferences|requirements|goals?|objectives?|needs"
    r"|thinking|vision|specification)(?: in (?:full|detail|depth|your own words)| fully| completely)?\s*[.?!]?$)"
)
GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day)|welcome|thanks?(?: you)?|sure|ok(?:ay)?|got it|understood|great|noted)\b[^?]{0,40}"
    r"|.*\b(?:how (?:can|may|could) i (?:help|assist)|what can i do for you|how are you|ready to help|here to help|anything else|any(?:thing| other) (?:else|preferences?|requests?|questions?)"
    r"|can i help|help you (?:with|today))\b.*)$"
)
REPEATED = re.compile(
    r"^(?:noted|understood|got it|copy that|recorded|roger|many thanks|(?:thanks|thank you)[,.! ]|(?:just )?to recap|recap of what you|as (?:you )?(?:said|told|asked|specified|requested|agreed|instructed)|per your|like you (?:said|wrote)"
    r"|.{0,40}\b(?:you (?:told|already told|said|confirmed|specified|gave|answered|wrote)|(?:exactly )?(?:like|as) you (?:wrote|said|asked|wanted|specified)|per your (?:answer|reply|request|instructions?)))\b"
)
THANKED = re.compile(r"^(?:thanks?|thank you|many thanks|perfect|great|very helpful)\b[^?]*$")
RUNNING = re.compile(
    r"\b(?:(?:i'?m|i am|we are|we're|now|currently|is|are|still) (?:now |currently |already |still )?(?:running|building|coding|computing|fetching|downloading|writing|working|testing|loading|pulling"
    r"|preparing|processing|implementing|collecting|gathering)|(?:i'?ll|i will|i am going to|i'm going to|let me|going to|next,? i(?:'ll| will)?|then i(?:'ll| will)?) (?:now |then |next |first |start |begin |go )?"
    r"(?:run\w*|build\w*|cod\w+|comput\w+|fetch\w*|download\w*|writ\w+|work\w*|test\w*|load\w*|pull\w*|prepar\w+|process\w*|implement\w*|start\w*|begin\w*|collect\w*|gather\w*|deliver\w*|continue|proceed"
    r"|retry|rerun|re-run|create|generate|produce|get (?:the|started)|put together)|running (?:the|a|it|now)|rerunning|re-running|resuming|in progress|work in progress|(?:come|be) back with|retrying|underway)\b"
)
REFUSAL = re.compile(
    r"\b(?:i (?:can'?t|cannot|can not|won'?t|will not|am unable to|am not able to|'?m unable to|'?m not able to|must decline to|decline to|refuse to)|i'm (?:unable|not able) to|(?:we|it) (?:cannot|can't) be)\s+"
    r"(?:help|assist|continue|proceed|do (?:this|that|it)|done|complete|fulfil\w*|carry (?:this|it) out|run (?:this|the|a|that|any|your) (?:\w+ )?(?:back-?test|strategy|test|analysis)|provide (?:financial|investment|trading|this|that)"
    r"|give (?:financial|investment|trading)|take (?:this|it) on|offer (?:financial|investment)|perform (?:this|the|that)|deliver (?:this|a|the)|back-?test|comply|finish)"
    r"|\bi(?:'m| am)? (?:giv(?:e|ing) up|quit(?:ting)?|abandon(?:ing)?|stopp?ing here|must decline|have to (?:stop|decline|give up))\b"
)


def asks(text: str) -> bool:
    """Return whether a unit asks."""
    return ASK.search(text) is not None or QUESTION_WORD.match(text) is not None


def proposes(text: str) -> bool:
    """Return whether a unit proposes or states a choice."""
    return PROPOSE.search(text) is not None


def reports(text: str) -> bool:
    """Return whether a unit reports a result or progress."""
    return METRIC_RESULT.search(text) is not None or PROGRESS.search(text) is not None


def repeats(text: str) -> bool:
    """Return whether a unit acknowledges or repeats what the user said, without asking."""
    return REPEATED.search(text) is not None and "?" not in text


def thanks(text: str) -> bool:
    """Return whether a unit only thanks; what follows it repeats the answer unless it proposes or asks."""
    return THANKED.search(text) is not None and not proposes(text)


def invites_correction(text: str) -> bool:
    """Return whether a unit puts what stands around it up for correction ('Shall I proceed?')."""
    return LOCKED_IN.search(text) is not None


def is_greeting(text: str) -> bool:
    """Return whether a unit is a greeting or a general offer, which asks for no decision."""
    return GREETING.match(text) is not None


def is_general(text: str) -> bool:
    """Return whether a unit asks for the strategy as a whole, which names no part of it."""
    return GENERAL.search(text) is not None


def refuses(text: str) -> bool:
    """Return whether a text refuses the work as a whole or gives it up."""
    return REFUSAL.search(text) is not None


def announces_work(text: str) -> bool:
    """Return whether a text announces a step that is running or comes next."""
    return RUNNING.search(text) is not None


def subjects(text: str) -> set[Subject]:
    """Return the subjects outside the strategy that the text is about."""
    return {subject for subject, pattern in SUBJECTS.items() if pattern.search(text)}
