"""How weights, numbers of names and rebalancing days are written out in reports: as words, parts, percent or formulas."""

import re

from evaluator.judge.rules.figures import WORD_NUMBER

_N = rf"(?:\d{{1,4}}|{WORD_NUMBER})"
_PART = r"(?:half|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth|twelfth|fifteenth|twentieth)"
_MONEY = (
    r"(?:equity|capital|money|cash|portfolio|book|account|account value|net asset value|nav|wealth|funds|the total)"
)
_SIZE = r"(?:weights?|amounts?|sizes?|shares of|parts?|portions?|slices?|splits?|dollars?|stakes?|capital|cash|proportions?|allocations?|positions?|money|notional)"
_EACH = r"(?:each|apiece|per (?:name|stock|holding|position|share|company)|in (?:each|every)|for (?:each|every)|to (?:each|every))"
_WEIGH = r"(?:weight(?:s|ed|ing)?|siz(?:e|es|ed|ing)|allocat(?:e|es|ed|ion)|split|divid(?:e|es|ed)|spread|shared?|distribut(?:e|es|ed))"
_MONTH = r"(?:january|march|april|june|july|september|october|december)"
_LAST = r"(?:last|final|first|second|third) (?:nyse |exchange |us )?(?:trading |business |market )?(?:session|day|close|friday|monday|tuesday|wednesday|thursday)"
_OF = r"(?: of| in)?(?: each| every| the| a| all)?(?: calendar| iso| trading)?"


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


WEIGHTINGS = {
    "equal": _any(
        r"equal(?:ly)?[- ]weight\w*",
        rf"equal(?:ly)?(?:[- ](?:dollar|cash|money|position|sized))?[- ]{_SIZE}\b",
        rf"(?:the )?(?:same|identical) (?:dollar |initial |starting |cash )?{_SIZE}\b",
        r"(?<!, )(?<!max\()\b1\s?/\s?n\b(?!\))",
        rf"{_WEIGH}[^.;]{{0,25}}\b(?:equal(?:ly)?|evenly|the same)\b(?! risk| contribution)",
        rf"\b(?:equally|evenly)[- ](?:{_WEIGH}|among|between|across|over)",
        rf"\b\d{{1,2}}(?:\.\d{{1,3}})?\s?(?:%|percent)(?: (?:of )?(?:the |its |total |current )?{_MONEY})?,? {_EACH}\b",
        rf"{_EACH}[^.;]{{0,30}}\b(?:is |at |gets? |receives? |has |carries )\d{{1,2}}(?:\.\d{{1,3}})?\s?%(?! (?:stop|below|under))",
        rf"(?:\b(?:one|an?)[- ]{_PART}|\b1\s?/\s?\d{{1,3}}(?:st|nd|rd|th)?)(?: of (?:the |its |total |current )?{_MONEY})?,? {_EACH}\b",
        rf"\bat (?:\d{{1,2}}(?:\.\d{{1,3}})?\s?(?:%|percent)|one {_PART}) each\b",
        rf"\beach (?:\w+ )?(?:at|with|of|gets?|receives?|has|carries|being|is) (?:one |an? |1/)-?(?:{_PART}|\d{{1,3}})\b",
        r"\beach (?:name|stock|holding|position) (?:at |gets? |receives? |has |carries )(?:one|an?|1/)[- ]?\w+",
    ),
    "inverse_vol": _any(
        r"inverse[- ](?:of )?(?:the |its |their |each )?(?:\S+[- ]){0,3}(?:realised |realized )?vol\w*",
        r"inverse(?:ly)?[- ](?:to|proportional to|with) (?:\S+ ){0,4}(?:vol|standard dev)\w*",
        r"(?:reciprocal|one over)[^.;]{0,25}(?:vol\w*|standard dev\w*)",
        r"\b1\s?/\s?(?:vol|sigma|σ|std|stdev|sd)\b",
    ),
    "cap_weighted": _any(
        r"(?:market[- ])?(?:cap(?:itali[sz]ation)?|value)[- ]weight\w*",
        r"(?:weight\w*|sized|sizing|sizes|proportion\w*|allocat\w*|scal(?:es?|ed)) (?:\w+ ){0,3}(?:by|to|on|with) (?:\w+ ){0,2}(?:market[- ](?:cap\w*|value)|capitali[sz]ation)",
    ),
    "min_variance": _any(
        r"min(?:imum|imal)?[- ](?:portfolio[- ])?var\w*", r"(?:minimi[sz]\w*|lowest|least)[^.;]{0,30}\bvariance"
    ),
    "mean_variance": _any(r"mean[- /]var\w*", r"max(?:imum)?[- ]sharpe", r"markowitz", r"tangency portfolio"),
    "risk_parity": _any(
        r"risk[- ]parity",
        r"equal(?:ly)? risk[- ]contribut\w*",
        r"same (?:share|contribution|amount) (?:of|to) (?:\w+ )?risk",
    ),
    "score_weighted": _any(
        r"score[- ]weight\w*",
        r"(?:weight\w*|sized|sizing|sizes|proportion\w*|allocat\w*|scal(?:es?|ed)) (?:\w+ ){0,3}(?:by|to|with) (?:\w+ ){0,3}(?:scores?|signals?)\b(?! volatil| rank)",
        r"\bs(?:_?i)?\s?[-\u2212]\s?min\(",
    ),
    "rank_weighted": _any(
        r"rank[- ](?:proportional[- ])?weight\w*",
        r"(?:weight\w*|sized|sizing|sizes|proportion\w*|allocat\w*|scal(?:es?|ed)) (?:\w+ ){0,3}(?:by|to|with) (?:\w+ ){0,3}rank(?:s|ing)?\b",
        r"\b\d{1,2}/(\d{1,3})\b(?:\s?(?:,|and|;|to|down to|\.\.\.|…)?\s?\d{1,2}/\1\b)+",
        r"\b\d{1,2}\s?%(?:\s?(?:,|and|/)\s?\d{1,2}\s?%){2,}",
        r"\bn\s?\+\s?1\s?[-\u2212]\s?(?:rank|r)\b",
    ),
}
"""Weighting schemes by the words, parts and formulas that name one way to compute them."""
CALENDARS = {
    "daily": _any(
        r"\bdaily\b(?! (?:\w+ )?(?:returns?|bars?|closes?|prices?|data|volume|vol\w*|log|account|moves?|gain))",
        r"every (?:trading )?day\b",
    ),
    "weekly": _any(
        r"\bweekly\b(?! (?:\w+ )?(?:returns?|bars?|data|net|decisions))",
        r"(?:every|each|once an?|per) (?:calendar |iso |trading )?week\b",
        rf"{_LAST}{_OF} weeks?\b",
        r"(?:every|each|on|at the|at) (?:monday|tuesday|wednesday|thursday|friday)s?(?:'s|’s)?\b",
        r"\bweek[- ]?ends?\b|\b(?:fridays|mondays)\b",
    ),
    "monthly": _any(
        r"\bmonthly\b(?! (?:\w+ )?(?:returns?|bars?|data|hit))",
        r"(?:every|each|once an?|per) (?:calendar )?month\b",
        r"month(?:'s|’s)?[- ]?(?:end|close)s?\b",
        r"end of (?:the |each |every )?month\b",
        rf"{_LAST}{_OF} months?\b",
        r"of (?:the|each|every) (?:calendar )?month\b",
        r"every (?:20|21|twenty|twenty[- ]one) (?:trading )?(?:sessions|days)",
    ),
    "quarterly": _any(
        r"\bquarterly\b(?! (?:\w+ )?(?:returns?|data|filings?|statements?|reports?|eps|figures|earnings|results?|revenues?|net))",
        r"(?:every|each|once an?) (?:calendar )?quarter\b",
        r"quarter[- ]?(?:end|close)s?\b",
        rf"{_LAST}{_OF} quarters?\b",
        r"of (?:the|each|every) (?:calendar )?quarter\b",
        rf"{_MONTH},? (?:and )?{_MONTH},? (?:and )?{_MONTH},? (?:and )?{_MONTH}",
        r"every (?:three|3) months",
    ),
    "yearly": _any(r"\bannually\b", r"(?:every|each) year\b", r"once a year", rf"{_LAST}{_OF} years?\b"),
}
_SUPERLATIVE = r"(?:lowest|highest|cheapest|strongest|weakest|smallest|largest|biggest|calmest|quietest|most|least|best|worst|top|fastest|steadiest|deepest|nearest|closest|greatest|first)"
_NAMES = r"(?:names|stocks|holdings|positions|companies|securities|tickers|equities|shares|banks|scores|constituents|members|issues|issuers|firms)"
COUNTS = (
    rf"\b{_N}[- ](?:\w+[- ]){{0,2}}{_SUPERLATIVE}\b",
    rf"\b{_SUPERLATIVE}[- ](?:\w+[- ]){{0,2}}{_N}\b(?![\s-]?%|[\s-]?(?:bps|days?|months?|weeks?|sessions?|years?|quarters?))",
    rf"\b{_N} (?:\w+ ){{0,2}}{_NAMES} (?:with|that have|having|whose|by|closest|nearest|on|of)\b",
    rf"\b{_N} of (?:the )?{_N}\b",
    rf"\b(?:count|size|breadth|slots|names held|number held|n)(?:\s?[|:=]\s?| is | of | ){_N}\b(?![\s-]?%)",
    rf"\b{_N} (?:slots|lines)\b",
)
"""Ways to say how many names are held, beside 'top 10' and 'holds 10'."""
DAY_OF_CALENDAR = re.compile(
    rf"{_LAST}\b|(?:month|quarter|week)(?:'s|’s)?[- ]?(?:ends?|close)\b|(?:mon|tues|wednes|thurs|fri)days?\b|end of (?:each|every|the|a|month|quarter|week)"
    r"|every (?:\d+|five|ten|twenty|twenty[- ]one) (?:trading )?(?:days|sessions)|\bdaily\b",
    re.IGNORECASE,
)
"""The day on which a calendar acts."""
