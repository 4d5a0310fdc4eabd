"""The eleven rules of a strategy: words that speak of each, that define it, and that leave it open (rubric, 2.7)."""

import re
from dataclasses import dataclass, field

from evaluator.judge.rules.figures import WORD_NUMBER

_N = rf"(?:\d{{1,4}}|{WORD_NUMBER})"
_SPAN = rf"{_N}[- ]?(?:trading[- ]|calendar[- ]|business[- ])?(?:d|day|session|week|wk|month|mo|m|quarter|year|yr)s?\b"
_NAMES = r"(?:names|stocks|holdings|positions|companies|securities|tickers|equities|shares)"


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


@dataclass(frozen=True)
class TradingRule:
    """One rule."""

    name: str
    topic: re.Pattern[str]
    definite: re.Pattern[str]
    vague: re.Pattern[str]
    trades: bool = True
    """A second reading of it changes a trade."""
    core: bool = False
    """Without it nobody can place a trade; silence leaves more than one reading."""
    options: dict[str, re.Pattern[str]] = field(default_factory=dict)


WEIGHTINGS = {
    "equal": _any(
        r"equal(?:ly)?[- ]weight\w*",
        r"equal(?:[- ]dollar)? (?:weights?|amounts?|sizes?|shares of)",
        r"same weight",
        r"\b1/n (?:weight|alloc|each)\w*",
        r"weight\w* equal(?:ly)?\b",
    ),
    "inverse_vol": _any(
        r"inverse[- ]vol\w*",
        r"inverse(?:ly)?[- ](?:to|proportional to) (?:\w+ ){0,3}vol\w*",
        r"inversely proportional to (?:\w+ ){0,3}vol\w*",
        r"1/(?:vol|sigma|σ)",
    ),
    "cap_weighted": _any(r"(?:market[- ])?cap(?:itali[sz]ation)?[- ]weight\w*"),
    "min_variance": _any(r"min(?:imum)?[- ]var\w*"),
    "mean_variance": _any(r"mean[- ]var\w*", r"max(?:imum)?[- ]sharpe", r"markowitz"),
    "risk_parity": _any(r"risk[- ]parity", r"equal risk contribution"),
    "score_weighted": _any(r"score[- ]weight\w*", r"weight\w* (?:by|proportional to) (?:\w+ ){0,2}scores?"),
    "rank_weighted": _any(r"rank[- ]weight\w*", r"weight\w* (?:by|proportional to) (?:\w+ ){0,2}ranks?"),
}
CALENDARS = {
    "daily": _any(r"\bdaily\b", r"every (?:trading )?day\b"),
    "weekly": _any(r"\bweekly\b", r"(?:every|each) week\b", r"every (?:monday|friday)"),
    "monthly": _any(
        r"\bmonthly\b", r"(?:every|each) month\b", r"month[- ]end\b", r"once a month", r"of (?:the|each|every) month\b"
    ),
    "quarterly": _any(
        r"\bquarterly\b",
        r"(?:every|each) quarter\b",
        r"quarter[- ]end\b",
        r"once a quarter",
        r"of (?:the|each|every) quarter\b",
    ),
    "yearly": _any(r"\bannually\b", r"every year\b", r"once a year"),
}
RULES: tuple[TradingRule, ...] = (
    TradingRule(
        "universe",
        _any(
            r"univers",
            r"\bpool\b",
            r"\bscope\b",
            r"basket",
            r"drawn from",
            r"candidates?",
            r"sector",
            r"s&p ?\d+",
            r"russell",
        ),
        _any(
            rf"(?:univers|pool|basket|scope|drawn from|candidates)[^.]{{0,80}}(?:{_N}\b|s&p|russell|nasdaq|sector|listed)",
            rf"\b{_N} (?:\w+[- ]){{0,4}}{_NAMES}\b",
            r"s&p ?(?:500|1500|100|400|600)",
            r"russell ?\d{4}",
            r"nasdaq[- ]?100",
            r"dow ?30",
            r"universe\.csv",
            r"(?:health ?care|energy|financials?|technology|industrials?|utilities|materials|real estate|consumer \w+|communication services) sector",
        ),
        _any(
            r"(?:good|quality|liquid|suitable|selected|major|leading|interesting|attractive|various|some|promising|popular) (?:\w+ )?(?:stocks|names|companies)"
        ),
    ),
    TradingRule(
        "signal",
        _any(
            r"signal",
            r"factor",
            r"score",
            r"rank",
            r"momentum",
            r"reversal",
            r"\bvalue\b",
            r"quality",
            r"yield",
            r"growth",
            r"volatility",
            r"\bbeta\b",
            r"accrual",
            r"profitab",
            r"surprise",
            r"trend",
            r"small[- ]?(?:cap|size)",
        ),
        _any(
            rf"(?:momentum|reversal|return|performance|trend|high|winners|losers|volatility|beta|deviation|surprise|growth|earnings|score|rank\w*|signal|change)\b[^.]{{0,70}}\b{_SPAN}",
            rf"\b{_SPAN}[^.]{{0,50}}(?:momentum|reversal|return|performance|high|volatility|beta|deviation|growth|winners|losers|change)",
            r"(?:eps|earnings)\b[^.]{0,40}(?:year[- ]ago|same quarter|four quarters|previous year)",
            r"\b(?:12|6|9|3)\s?[-–/]\s?1\b",
            r"p\[t",
            r"mom 12 1|mom 6 1|high 52w|rev 21|rev 5\b|low vol 252|low beta 252|low max 21",
            r"close\[|close \(t|p\(t",
            r"52[- ]week high",
            r"(?:net income|earnings|revenue|gross profit|free cash flow|operating cash flow|book (?:value|equity)|cogs|eps|sales)[^.]{0,60}(?:/|divided by|over|minus|less|per|to)\s*(?:\w+ ){0,3}(?:assets|equity|cap\b|capitali[sz]ation|market value|price|revenue|cogs|cost|shares|accruals|cash flow)",
            r"\d+ daily (?:returns|closes|prices)",
            r"equity\b[^.]{0,60}/\s?market cap",
            r"-\s?ln|log of (?:the )?market cap",
            r"(?:ttm|trailing[- ](?:twelve|12|four|4)[- ]\w+)",
            r"shift\(\d+\)|pct_change\(\d+\)|rolling\(\d+\)",
        ),
        _any(
            r"momentum",
            r"\bvalue\b",
            r"quality",
            r"strong",
            r"good",
            r"attractive",
            r"recent",
            r"some lookback",
            r"fundamentals",
            r"technical",
            r"reversal",
            r"low[- ]vol",
            r"signal",
            r"factor",
            r"score",
            r"rank",
        ),
        core=True,
    ),
    TradingRule(
        "combination",
        _any(
            r"combin",
            r"blend",
            r"composite",
            r"z[- ]?scores?",
            r"sequential",
            r"average (?:of )?(?:the )?ranks?",
            r"averag\w+ (?:the )?(?:two|three|factors|signals)",
        ),
        _any(
            r"z[- ]?scores?",
            r"(?:mean|average|sum)[^.]{0,30}(?:percentile )?ranks?",
            r"ranks?[^.]{0,20}averaged",
            r"sequential[^.]{0,80}",
            r"top half",
            rf"\b{_N}\s?%\s?(?:/|and|on|weight|momentum|value|quality)",
            r"equal[- ]weighted (?:average|mean|composite|blend)",
            r"simple average",
            r"its value is the score|single (?:factor|signal|characteristic)|one (?:factor|signal|characteristic)|combination none",
        ),
        _any(r"combin", r"blend", r"composite"),
    ),
    TradingRule(
        "count",
        _any(
            r"top\b",
            r"\bhold",
            r"best\b",
            r"names\b",
            r"positions?\b",
            r"highest",
            r"select",
            r"n holdings",
            r"number of",
        ),
        _any(
            rf"\b(?:top|best|highest|lowest|bottom|cheapest|strongest|first)(?:[- ](?:ranked|scoring|scored|rated))?\s*[- ]?{_N}\b(?![\s-]?%|[\s-]?(?:bps|days?|months?|weeks?|sessions?|years?))",
            rf"\b(?:hold|holds|holding|held|selects?|pick(?:s|ed)?|buys?|bought|owns?|keeps?|long)\s+(?:exactly |only |always |at most |up to |the )*(?:top |best |highest[- ]ranked )?{_N}\b(?![\s-]?%|[\s-]?(?:bps|days?|months?|weeks?|sessions?|years?))",
            rf"\b{_N}[- ](?:\w+[- ]){{0,2}}(?:holdings|positions|best|highest|top|names? portfolio|stock portfolio|name portfolio)\b",
            rf"\bbest {_N}\b",
            rf"\bthe {_N} (?:lowest|highest|cheapest|strongest|smallest|calmest|most|least|best)\b",
            rf"(?:select\w*|hold\w*|pick\w*|portfolio)\b[^.]{{0,30}}\b{_N} (?:[\w-]+ ){{0,3}}{_NAMES}\b",
            r"n holdings\D{0,12}\d+",
            rf"(?:number of )?(?:holdings|names|positions|stocks held)\s*(?:[:=(|]|is|are)\s*{_N}\b",
            rf"at most {_N}\b",
            r"top (?:decile|quintile|quartile|tercile|third|half|tenth)",
            rf"(?:top|best) {_N}\s?%",
            rf"\b{_N} {_NAMES}[^.]{{0,25}}(?:are |is )?(?:held|selected|bought|chosen|at a time)",
        ),
        _any(
            r"top[- ](?:ranked |scoring |performing )?(?:names|stocks|performers|companies)",
            r"(?:a )?(?:few|handful|several|number of|some|many) (?:of )?(?:the )?(?:\w+ )?(?:names|stocks|positions|holdings|companies)",
            rf"(?:around|about|roughly|approximately|some|~|circa) ?{_N}(?: (?:to|or|-) ?{_N})? (?:\w+ ){{0,2}}{_NAMES}",
            rf"\b{_N}\s?(?:-|–|to|or)\s?{_N} (?:\w+ ){{0,2}}{_NAMES}",
            r"best (?:names|stocks|ones)",
            r"strongest (?:names|stocks)",
            r"concentrated|diversified portfolio",
        ),
        core=True,
    ),
    TradingRule(
        "weighting",
        _any(r"weight", r"sizing", r"\bsized\b", r"allocat", r"risk parity", r"variance", r"inverse[- ]vol"),
        _any(*(pattern.pattern for pattern in WEIGHTINGS.values())),
        _any(r"weight", r"sizing", r"\bsized\b", r"allocat"),
        core=True,
        options=WEIGHTINGS,
    ),
    TradingRule(
        "timing",
        _any(
            r"market[- ]?(?:timing|filter|regime|gate)",
            r"\bsma\b",
            r"moving[- ]average",
            r"\bvix\b",
            r"breadth",
            r"regime",
            r"trend filter",
            r"always invested",
            r"fully invested",
            r"absolute momentum",
            r"(?:move|go|step|switch)\w*(?: aside)?(?: in)?to cash",
            r"market conditions",
            r"downtrend",
            r"bear market",
        ),
        _any(
            r"(?:no|without(?: an?y?)?|not use an?y?) (?:market[- ])?(?:timing|filter|gate|regime)",
            r"always invested",
            r"fully invested",
            r"timing\W{1,12}(?:rule\W{1,5})?(?:none|no\b|n/a|off)",
            rf"\b{_N}[- ]?(?:day|session|month|week)?s?[- ]?(?:simple )?(?:sma|moving[- ]average|average)",
            rf"(?:sma|moving[- ]average|window|lookback)\W{{0,6}}\(?(?:of |over )?(?:the )?(?:last )?{_N}\b",
            rf"vix\b[^.]{{0,40}}\b{_N}\b",
            rf"(?:threshold|percentile)\D{{0,15}}{_N}\b",
            rf"absolute momentum[^.]{{0,60}}{_SPAN}",
            rf"{_SPAN}[^.]{{0,30}}(?:absolute )?(?:momentum|return)[^.]{{0,30}}(?:positive|above (?:zero|0)|> ?0)",
            rf"(?:percentile|breadth)[^.]{{0,60}}\b{_N}\b",
            rf"(?:at least|more than|over|above|below) {_N}\s?%[^.]{{0,60}}(?:average|sma|universe)",
        ),
        _any(
            r"favou?rable",
            r"conditions",
            r"regime",
            r"downtrend",
            r"bear market",
            r"high volatility",
            r"elevated",
            r"turn\w* (?:down|negative|bad)",
            r"moving[- ]average",
            r"market[- ]?(?:timing|filter)",
            r"\bvix\b",
            r"to cash",
            r"breadth",
            r"\bsma\b",
        ),
    ),
    TradingRule(
        "risk",
        _any(
            r"stop[- ]?loss",
            r"\bstops?\b",
            r"risk[- ](?:control|management|rule|overlay|limit)",
            r"drawdown (?:stop|control|limit|rule|threshold)",
            r"vol(?:atility)?[- ]target",
            r"target vol",
            r"manage(?:s|d)? risk",
            r"risk is managed",
            r"cut (?:the )?(?:losses|positions?|exposure)",
            r"reduce (?:the )?exposure",
            r"position limit",
        ),
        _any(
            r"(?:no|without(?: an?y?)?) (?:further |other |extra |additional )?(?:stop|risk[- ](?:control|rule|overlay|management)|volatility target)",
            r"risk (?:control|rule|overlay|management)?\W{0,12}(?:rule\W{1,5})?(?:none|n/a|off)\b",
            rf"(?:stop|drawdown|below|loss|target|volatility|falls?|drops?|vol)[^.]{{0,70}}\b{_N}(?:\.\d+)?\s?%",
            rf"\b{_N}(?:\.\d+)?\s?%[^.]{{0,60}}(?:stop|drawdown|below|loss|vol)",
            rf"(?:threshold|target|level)\D{{0,8}}{_N}\b",
        ),
        _any(r"stop", r"manage", r"risk", r"cut", r"reduce", r"target", r"significant", r"large"),
    ),
    TradingRule(
        "execution",
        _any(
            r"execut",
            r"\bfill",
            r"trade[sd]? (?:at|on|fill)",
            r"\borders?\b",
            r"\bopen\b",
            r"at the close",
            r"closing price",
            r"staged",
            r"average daily volume",
            r"day'?s volume",
            r"traded at",
            r"next (?:day|session)",
        ),
        _any(
            r"(?:next|following|subsequent|first)(?: trading| available| market| business)?(?:[- ](?:day|session|morning|bar))?(?:'s|’s|s'|s’)?(?: the)?[- ](?:market[- ])?(?:open|close|opening|closing|vwap)\w*",
            r"(?:open|close)(?:ing price)? (?:price )?(?:of|on|at) (?:the )?(?:next|following|first)",
            r"t\s?\+\s?1",
            r"next (?:open|close)\b",
            r"same[- ](?:day|session)(?:'s|’s)?[- ]close",
            r"close of the (?:same|decision|signal|rebalance)\b[^.]{0,10}",
            r"(?:open|close)[^.]{0,30}(?:next|following) (?:trading )?(?:day|session)",
            r"(?:next|following) (?:trading )?(?:day|session)[^.]{0,30}(?:open|close)",
            rf"(?:staged|spread|split|equal parts|sliced?)[^.]{{0,60}}(?:over|across) (?:the )?(?:next )?{_N}\b",
            rf"\b{_N}(?:\.\d+)?\s?%[^.]{{0,40}}volume",
            r"adv cap|staged|shift\(1\)",
        ),
        _any(
            r"at market",
            r"promptly",
            r"shortly",
            r"good price",
            r"best available",
            r"open or (?:the )?close",
            r"at the close",
            r"closing price",
            r"soon",
            r"execut",
            r"\bfill",
            r"at the open",
            r"orders?",
        ),
        core=True,
    ),
    TradingRule(
        "cost",
        _any(r"\bcosts?\b", r"commission", r"\bfees?\b", r"slippage", r"\bbps\b", r"basis points"),
        _any(
            r"\d+(?:\.\d+)?\s?(?:bps?|basis points?)\b",
            r"bps\W{1,4}\d+",
            r"(?:cost|fee|commission|slippage)s?[^.]{0,40}\d+(?:\.\d+)?\s?%",
            r"\d+\.\d+\s?%[^.]{0,40}(?:cost|fee|commission)",
            r"(?:no|zero|without(?: an?y?)?) (?:transaction |trading )?(?:costs?|commissions?|fees)",
            r"cost[- ]free",
            r"costs?\W{1,12}(?:none|zero|0)\b",
            r"commission[- ]free",
            r"\$\d+(?:\.\d+)? per (?:trade|share)",
        ),
        _any(r"costs?", r"fees?", r"commission", r"slippage"),
        trades=False,
    ),
    TradingRule(
        "rebalance calendar",
        _any(
            r"rebalanc",
            r"re-?form",
            r"decision (?:date|day|session)",
            r"\bweekly\b",
            r"\bmonthly\b",
            r"\bquarterly\b",
            r"re-?rank",
            r"month[- ]end",
            r"every \w+ (?:days|weeks|months)",
            r"every (?:week|month|quarter|day)",
        ),
        _any(
            *(pattern.pattern for pattern in CALENDARS.values()),
            rf"every {_N} (?:trading )?(?:days|sessions|weeks|months)",
        ),
        _any(
            r"periodic",
            r"regular",
            r"from time to time",
            r"as needed",
            r"when needed",
            r"occasional",
            r"when appropriate",
            r"frequent",
            r"rebalanc",
        ),
        core=True,
        options=CALENDARS,
    ),
    TradingRule(
        "missing data",
        _any(
            r"missing",
            r"incomplete",
            r"insufficient (?:history|data)",
            r"without (?:a |enough |full |complete )?(?:\w+ )?(?:data|history|score|value|window)",
            r"\bnans?\b",
            r"gaps?\b",
            r"no (?:price|data|bar)",
        ),
        _any(
            r"(?:exclud|left out|leave out|drop|skip|not filled|never filled|nothing is filled|forward[- ]?fill|ffill|carried|carry|remov|ineligible|not eligible|not (?:ranked|traded|bought)|discard|waits?|interpolat|dropna|filled with)"
        ),
        _any(r"appropriate", r"handled", r"clean", r"dealt with", r"missing"),
        trades=False,
    ),
)
ESTIMATED = ("inverse_vol", "min_variance", "mean_variance", "risk_parity")
"""Weightings that mean nothing without the window they are estimated on."""
WINDOW = re.compile(rf"\b(?:{_SPAN}|(?:vol window|cov window|window|lookback|half-?life)\D{{0,12}}\d+)", re.IGNORECASE)
DAY_OF_CALENDAR = re.compile(
    r"(?:last|final) (?:trading |business )?(?:session|day|close)|month[- ]ends?\b|quarter[- ]ends?\b|first (?:trading |business )?(?:day|session|close)|friday|monday|end of (?:each|every|the|a)"
    r"|every (?:\d+|five|ten|twenty) (?:trading )?(?:days|sessions)|\bdaily\b",
    re.IGNORECASE,
)
LOOSE = re.compile(
    r"\b(?:appropriate(?:ly)?|suitabl[ey]|reasonabl[ey]|sensibl[ey]|significant(?:ly)?|sufficient(?:ly)?|substantial(?:ly)?|around|about|approximately|roughly|circa|either|and/or|or so"
    r"|periodic(?:ally)?|as needed|if (?:needed|necessary)|typically|usually|generally|may be|might|could|tbd|to be (?:determined|decided)|etc|some|depending on|discretion(?:ary)?|opportunistic(?:ally)?|as appropriate|when warranted|large enough|too (?:high|low|large))\b|~ ?\d|\be\.g\.",
    re.IGNORECASE,
)
