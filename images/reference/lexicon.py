"""What the client's words mean: patterns for every option, from specific to general, and the numbers beside them."""

from __future__ import annotations

import re

FACTORS: tuple[tuple[str, str], ...] = (
    ("mom_12_1", r"12\s?(?:m|months?)?\s?(?:-|minus|to)\s?1\s?(?:m|months?)?\b[\w\s-]{0,12}momentum"),
    ("mom_6_1", r"6\s?(?:m|months?)?\s?(?:-|minus|to)\s?1\s?(?:m|months?)?\b[\w\s-]{0,12}momentum"),
    ("mom_6_1", r"(?:6|six|half)[\s-]*(?:months?|m|year)?[\s-]*(?:year)?[\s-]*(?:price )?(?:momentum|winners?|return)"),
    (
        "mom_6_1",
        r"(?:winners?|risen|went up|gained|gainers?|strong\w*)\b[^.;]{0,30}(?:six months|6 months|half[- ]year)",
    ),
    ("mom_12_1", r"(?:12|twelve)[\s-]*(?:months?|m)?[\s-]*(?:price )?(?:momentum|winners?|return)"),
    ("mom_12_1", r"(?:past|last)[\s-]year(?:'s|s)?[\s-]*winners?"),
    (
        "mom_12_1",
        (
            r"(?:winners?|risen|went up|gained|gainers?|strong\w*)\b[^.;]{0,30}"
            r"(?:twelve months|12 months|past year|last year|the year)"
        ),
    ),
    ("high_52w", r"52[\s-]?(?:w|week)s?[\s-]*highs?"),
    (
        "high_52w",
        r"(?:near|close|closeness|up against|at)\b[^.;]{0,25}(?:yearly|annual|one[- ]year|12[- ]month|their) (?:highs?|peak)",
    ),
    ("high_52w", r"near[- ]the[- ]highs?"),
    ("rev_5", r"(?:1|one|5|five)[\s-]*(?:week|day|session)s?[\s-]*(?:short[- ]term )?reversals?|weekly reversals?"),
    ("rev_5", r"(?:past|last|this|previous)[\s-]*(?:week|5 days|five days)(?:'s|s)?[\s-]*losers?"),
    (
        "rev_5",
        r"(?:sold off|fell|fallen|dropped|losers?|down|beaten)\b[^.;]{0,30}(?:past|last|over the|previous|this) (?:trading )?week",
    ),
    (
        "rev_21",
        r"(?:1|one|21)[\s-]*(?:month|day|session)s?[\s-]*(?:short[- ]term )?(?:reversals?|losers?)|short[- ]term reversals?",
    ),
    (
        "rev_21",
        r"(?:past|last|previous)[\s-]*month(?:'s|s)?[\s-]*losers?|recent losers?|losers? bounce|mean[\s-]reversion",
    ),
    (
        "rev_21",
        r"(?:sold off|fell|fallen|dropped|losers?|beaten[- ]down)\b[^.;]{0,30}(?:past|last|previous) month|beaten[- ]down",
    ),
    ("fcf_yield", r"free[\s-]*cash[\s-]*flow(?:[\s-]*yield| to price|/price)?|\bfcf\b|cash[\s-]?flow yield"),
    (
        "sue",
        r"earnings surprises?|standardi[sz]ed (?:unexpected )?(?:earnings|surprises?)|unexpected earnings|\bsue\b|post-earnings drift|earnings momentum",
    ),
    (
        "earnings_yield",
        r"earnings[\s-]*yield|\be/p\b|\be over p\b|earnings[\s-]to[\s-]price|low p/?e\b|inverse p/?e|cheap (?:on|relative to|against) (?:their )?(?:earnings|profits)",
    ),
    (
        "book_to_price",
        r"book[\s-]*(?:value[\s-]*)?(?:to|over)[\s-]*(?:price|market)|\bb/p\b|low p/?b\b|(?:cheap|inexpensive) (?:on|relative to|against) (?:their )?book(?: (?:value|equity))?",
    ),
    ("roe", r"returns? on (?:common |shareholders'? |shareholder |their )*equity|\broe\b"),
    (
        "gross_profitability",
        r"gross[\s-]*profit(?:s|ability)?(?:\s*(?:to|over|relative to|divided by) (?:total )?assets)?|\bgp/a\b",
    ),
    ("low_accruals", r"(?:low )?accruals|(?:earnings|profits)\b[^.;]{0,20}backed by cash|cash[- ]backed earnings"),
    (
        "low_max_21",
        r"(?:low |highest |largest |biggest )?max(?:imum)? daily (?:returns?|gain|jump)|max effect|low[- ]max\b|lottery[- ]?(?:like|type|stocks?|tickets?)?",
    ),
    ("revenue_growth", r"(?:revenue|sales|top[- ]line)[\s-]*growth|growing (?:their )?(?:revenue|sales)"),
    (
        "low_beta_252",
        r"(?:low|lower|lowest|defensive|small)[\s-]*betas?|\bbeta (?:to|on|against) (?:spy|the market|the index)",
    ),
    (
        "small_cap",
        r"small(?:er)?[\s-]*(?:cap(?:s|itali[sz]ation)?|compan(?:y|ies)|size|firms|market cap)|size factor|modest market capitali[sz]ation",
    ),
    (
        "low_vol_252",
        r"\blow(?:er|est)?[\s-]*(?:vol\b|volatility)|least volatile|calm(?:er)? (?:stocks?|names)(?! get)|(?:daily )?returns?\b[^.;]{0,40}been quiet",
    ),
)
"""Names of the client's characteristics; earlier patterns win and blank what they matched."""

RULES: tuple[tuple[str, str, str], ...] = (
    (
        "risk_control",
        "vol_target",
        r"(?:volatility|vol|risk)[\s-]*(?:target\w*|budget)(?: of)?|target(?:ed|ing)?[\s-]*(?:annuali[sz]ed )?(?:volatility|vol\b)|scale (?:the )?(?:exposure|portfolio|book)\b[^.;]{0,60}",
    ),
    (
        "market_timing",
        "vol_gate",
        r"vol(?:atility)?[\s-]*regimes?|calm[- ]market|reali[sz]ed[- ]vol(?:atility)?[^.;]{0,30}(?:filter|gate|calm|percentile|high)|(?:market|index)(?:'s)? vol(?:atility)?[^.;]{0,25}(?:calm|quiet|low)|market volatility",
    ),
    ("market_timing", "vix_gate", r"\bvix\b|fear (?:index|gauge)|volatility index"),
    (
        "market_timing",
        "breadth",
        r"\bbreadth\b|(?:share|percent\w*|enough|proportion|fraction|%) of (?:the )?(?:stocks|names|universe|members)\b[^.;]{0,40}(?:above|over|uptrend|200|average)|participation of|enough (?:stocks|names)[^.;]{0,20}(?:taking part|rising|participating)",
    ),
    (
        "market_timing",
        "spy_abs_mom",
        r"absolute momentum|time[- ]series momentum|(?:index|spy|market)\b[^.;]{0,30}(?:\bup\b|positive|negative)[^.;]{0,20}(?:lookback|look-back|12|twelve|year|months?|return)|(?:index|spy|market)(?:'s)? own momentum|spy[^.;]{0,30}(?:negative|positive) return",
    ),
    (
        "market_timing",
        "spy_sma",
        r"trend[- ]filter|moving[- ]average|\b(?:200|150|100)[- ](?:day|session)s?\b(?! (?:window|half|cov))|sma[- ]filter|\bsma\b|(?:spy|index|market)[^.;]{0,20}above (?:its|the) average",
    ),
    (
        "portfolio_construction",
        "min_variance",
        r"min(?:imum|imal|imi[sz]ing|imi[sz]e)?[\s.-]*(?:variance|volatility (?:weights|portfolio|optimi\w+))|\bgmv\b|lowest (?:portfolio|overall|possible) (?:risk|variance|volatility)",
    ),
    ("portfolio_construction", "mean_variance", r"mean[\s/-]*variance|markowitz|max(?:imum)?[\s-]*sharpe"),
    (
        "portfolio_construction",
        "risk_parity",
        r"risk[\s-]*parity|equal(?:ly)? risk(?:[\s-]*contributions?)?|\berc\b|same (?:amount|share) of risk|contributes? equally to (?:total |the )?(?:risk|toxicity|volatility)",
    ),
    (
        "portfolio_construction",
        "inverse_vol",
        r"inverse(?:ly)?[\s-]*(?:vol(?:atility)?|to (?:their )?vol(?:atility)?)|1\s?/\s?vol|vol(?:atility)?[- ]weighted|one over (?:their )?vol\w*|calm(?:er)? (?:names|stocks|ones) get more",
    ),
    (
        "portfolio_construction",
        "score_weighted",
        r"(?:score|signal|conviction)[\s-]*weight\w*|(?:weights?|size\w*|proportion\w*)[^.;]{0,30}(?:to|by|with) (?:the |their )?(?:score|signal)s?",
    ),
    (
        "portfolio_construction",
        "rank_weighted",
        r"rank[\s-]*weight\w*|weight\w* by rank|(?:bigger|larger|more) (?:weights?|positions?)? ?(?:for|to|in) (?:the )?(?:better|higher|top)[\s-]*rank\w*|better the rank, the bigger|first in the ranking gets the most|step down with rank",
    ),
    (
        "portfolio_construction",
        "cap_weighted",
        r"(?:market[\s-]*)?cap(?:itali[sz]ation)?[\s-]*weight\w*|value[- ]weighted|weight\w* (?:them )?(?:by|in line with) (?:market|their)[\s-]*(?:cap\w*|value|size)|bigger companies get more",
    ),
    (
        "portfolio_construction",
        "equal",
        r"equal(?:ly)?[\s-]*(?:weight\w*|sized?|dollar)|same (?:size|amount|weight|dollars?)|\b1\s?/\s?n\b",
    ),
    ("portfolio_construction", "ledoit_wolf", r"ledoit|shr[iu]nk\w*"),
    (
        "portfolio_construction",
        "ewma",
        r"\bewma\b|exponential(?:ly)?[\s-]*(?:weight\w*|decay\w*|covariance)|riskmetrics",
    ),
    (
        "portfolio_construction",
        "sample",
        r"(?:plain|simple|ordinary|standard|raw)[\s-]*(?:sample )?(?:historical )?covariance|sample[\s-]*covariance|historical[\s-]*covariance|sample (?:estimate|matrix)",
    ),
    (
        "risk_control",
        "position_stop",
        r"(?:per[- ](?:name|position|stock)|position|hard|trailing)[\s-]*stops?(?:[\s-]*loss\w*)?|stop[\s-]*loss\w*|\bown stop|below (?:the |its |my |their )?entry|(?:holding|position|name|stock)\b[^.;]{0,30}(?:down|falls?|fell|drops?)[^.;]{0,40}(?:bought|entry|paid|cost)|% per name",
    ),
    (
        "risk_control",
        "drawdown_stop",
        r"draw[\s-]*downs?|circuit[- ]breaker|kill[- ]switch|portfolio[\s-]*stop|(?:off|below|from) (?:its|the|their|my)?\s?(?:high|peak|top)\b|peak[- ]to[- ]trough|cut to cash|get out completely|\btanks?\b",
    ),
    (
        "execution",
        "adv_cap",
        r"volume[\s-]*(?:cap|limit)|\badv\b|(?:share|percent\w*|fraction|%|part) of (?:the |a |an |each )?(?:stock's |typical |average |that )*(?:day(?:'s)?|daily)?\s?(?:trading )?(?:volume|turnover)|participation[\s-]*(?:rate|cap)|liquidity[\s-]*cap|(?:average )?daily volume",
    ),
    (
        "execution",
        "staged",
        r"\bstag(?:e|ed|ing)\b|(?:spread|split|slices?|tranches?|sliced|parts)\b[^.;]{0,30}(?:over|across|days?|sessions)|over (?:several|a few|multiple|three|five|3|5) (?:days|sessions)|\btwap\b|scale in|tranches",
    ),
    (
        "execution",
        "next_close",
        r"(?:next|following)[\s-]*(?:trading )?(?:day|session)?(?:'s)?[\s-]*clos(?:e|ing)|tomorrow(?:'s)?[\s-]*close|market[- ]on[- ]close|\bmoc\b|t\+1 close|close of (?:the )?(?:next|following)",
    ),
    (
        "execution",
        "next_open",
        r"(?:next|following)[\s-]*(?:trading )?(?:day|session|morning)?(?:'s)?[\s-]*open(?:ing)?|tomorrow(?:'s)?[\s-]*open|t\+1 open|open of (?:the )?(?:next|following)",
    ),
    (
        "transaction_cost",
        "fixed_rate",
        r"\bbps\b|basis[\s-]*points?|\bbp\b|(?:transaction|trading)[\s-]*costs?|commissions?|slippage|% (?:per|a|on every|on each) trade|per trade\b",
    ),
    (
        "stock_selection",
        "sequential_screen",
        r"sequential(?:ly)?[\s-]*screen\w*|screen (?:on one )?(?:first|then)|(?:screen|filter) then rank|double sort|two[- ]step screen|funnel|keep the top half|first (?:restrict|screen|filter)\w*[^.;]{0,60}(?:then|from those|and, from)",
    ),
    ("stock_selection", "zscore_mean", r"z[\s-]*scores?|standardi[sz]ed across the (?:universe|names)"),
    (
        "stock_selection",
        "rank_mean",
        r"(?:average|mean|combined|averag\w+|averaging)[\s-]*(?:of )?(?:the |their )*(?:percentile )?(?:percentiles?|ranks?|rankings?)|rank composite|(?:add|sum)\w* (?:up )?(?:the )?ranks",
    ),
)
"""Component, option, pattern; earlier ones win and blank what they matched."""

NULLS: tuple[tuple[str, str, str], ...] = (
    (
        "market_timing",
        "always_invested",
        (
            r"no market[- ](?:timing|filter|switch|rule|gate)|stays? (?:fully )?(?:in\b|invested|on study)|always invested"
            r"|(?:not|don't) time the market"
        ),
    ),
    (
        "risk_control",
        "none",
        r"no (?:risk |safety )?(?:overlay|net|controls?)\b|no (?:stops?|stop[- ]loss(?:es)?) (?:at all|of any)|(?:not|don't) (?:use|employ) (?:any )?stop",
    ),
    (
        "transaction_cost",
        "none",
        r"no (?:transaction |trading )?costs?\b|charge nothing|charging anything|frictionless|zero commission|gross of costs|cost[- ]free",
    ),
)
"""Statements that a component stays empty; they count only where nothing else settles the component."""

NEGATORS = re.compile(
    r"\b(?:no|not|never|without|none|don'?t|do not|does not|doesn'?t|isn'?t|rather you did not|instead of|nor|neither|skip the|drop the)\b"
    r"[^,;:.]{0,45}$"
)
REFUSED = re.compile(
    r"isn'?t (?:how|what|my)|is not (?:how|what|my)|not what (?:i|we)|not how i|no clue|no idea|too (?:loose|tight)"
)
NO_VIEW = re.compile(
    r"no (?:preference|view|idea|opinion)|you (?:pick|choose|decide)|your call|agnostic|up to you|don'?t (?:mind|care)|whatever you"
)
WORD_NUMBERS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
} | {"fifteen": 15, "twenty": 20, "twenty-five": 25, "thirty": 30}
PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s?(?:%|per ?cent\b)")
BPS = re.compile(r"(\d+(?:\.\d+)?)\s?-?(?:bps?\b|basis points?)")


def plain(text: str) -> str:
    """Return lower case with plain dashes and quotes, number words before a unit as digits."""
    out = text.lower()
    for odd, usual in (
        ("\u2010", "-"),
        ("\u2011", "-"),
        ("\u2013", "-"),
        ("\u2014", " - "),
        ("\u2019", "'"),
        ("\u2018", "'"),
    ):
        out = out.replace(odd, usual)
    words = "|".join(sorted(WORD_NUMBERS, key=len, reverse=True))
    unit = r"(?=[\s-]*(?:%|per ?cent|bps?\b|basis points?))"
    return re.sub(rf"\b({words})\b{unit}", lambda match: str(WORD_NUMBERS[match.group(1)]), out)


def sentences(text: str) -> list[str]:
    """Split at sentence ends, line ends and semicolons."""
    parts = re.split(r"(?<=[.!?])\s+(?=\S)|\n+|;\s+", text)
    return [part.strip(" -*\u2022\t") for part in parts if part.strip(" -*\u2022\t")]
