"""How investors say each conviction: the evaluator's own phrases, written apart from the simulated user's wording.

A phrase states an option when it stands in an affirmed clause of a user's message. Values need their number too and are
matched in `numbers.py`. Phrases see text in lower case with plain quotes and hyphens (`sentences.normalise`).
"""

import re
from functools import cache

from evaluator.compare.paraphrases import PARAPHRASES

_YEAR = r"(?:(?:past |last |trailing |previous )?(?:12|twelve)[- ]months?|(?:past|last|previous|trailing) (?:12|twelve) months|(?:one|a|the|past|last|previous)[- ](?:full )?year|year[- ]long|annual|yearly|52[- ]weeks?)"
_HALF = r"(?:(?:6|six)[- ]months?|half[- ]year|half a year|26[- ]weeks?|two quarters)"
_MONTH = r"(?:last month|past month|previous month|(?:the )?(?:one|1|a)[- ]month|21[- ](?:day|session)|monthly|month)"
_WEEK = r"(?:last week|past week|previous week|(?:one|1|a)[- ]week|(?:5|five)[- ](?:day|session)|weekly|week)"
_UP = r"(?:winners?|momentum|went up|gone up|risen|rose|ran|run[- ]?up|outperform\w*|strength|strongest|best perform\w*|climbed|gained|trend\w*|leaders?|up the most)"
_DOWN = r"(?:losers?|reversals?|mean[- ]rever\w*|sold off|sell-?off|dropped|fell|fallen|beaten[- ]down|oversold|laggards?|bounce\w*|rebound\w*|dips?|knocked down|got hit|hammered|slid|slump\w*|decliners?)"
_NAMES = r"(?:stocks?|names?|compan\w+|shares|firms?|businesses|sponsors?|holdings?|positions?|compounds?)"
_MARKET = r"(?:market|index|spy|s&p(?: ?500)?|benchmark|control arm|tape)"

PHRASES: dict[str, tuple[str, ...]] = {
    "mom_12_1": (
        rf"{_YEAR}[^.;]*{_UP}",
        rf"{_UP}[^.;]*{_YEAR}",
        r"12[- ]?(?:-|minus|to) ?1\b",
        r"12m ?- ?1m",
        r"(?:twelve|12)[- ]month (?:return|momentum)",
    ),
    "mom_6_1": (rf"{_HALF}[^.;]*{_UP}", rf"{_UP}[^.;]*{_HALF}", r"\b6 ?(?:-|minus|to) ?1\b", r"6m ?- ?1m"),
    "high_52w": (
        r"(?:52|fifty[- ]two)[- ]?w(?:ee)?k?s?[- ]highs?",
        r"(?:near|close to|right up against|at|around|within reach of|pressing|hugging|up against|just below|approaching)[- ](?:the|their|its|a)?[- ]?(?:\w+[- ]){0,2}(?:highs?|peaks?|tops?)\b",
        r"(?:closeness|proximity|distance|nearness) to (?:the|their|its|a)?[- ]?(?:\w+[- ]){0,2}(?:highs?|peaks?)",
        r"(?:yearly|one-year|1-year|12-month|annual|twelve-month) (?:highs?|peaks?)",
        r"near-the-highs",
    ),
    "rev_21": (
        rf"{_MONTH}(?:'s)?[^.;]*{_DOWN}",
        rf"{_DOWN}[^.;]*{_MONTH}",
        r"short[- ]term (?:reversals?|losers?)",
        r"\brecent losers\b",
        r"1m reversal",
    ),
    "rev_5": (rf"{_WEEK}(?:'s)?[^.;]*{_DOWN}", rf"{_DOWN}[^.;]*{_WEEK}", r"1w reversal"),
    "earnings_yield": (
        r"earnings[- ]yield",
        r"\be ?/ ?p\b",
        r"\be over p\b",
        r"earnings (?:to|over) price",
        r"low(?:est)?[- ]p ?/ ?e\b",
        r"\blow price[- ]earnings",
        r"(?:cheap|inexpensive|undervalued|bargain|value)\w*[^.;,]*(?:earnings|profits?|net income|p ?/ ?e\b)",
        r"(?:earnings|profits?) (?:relative to|against|for) (?:the |their )?(?:price|market (?:value|cap))",
    ),
    "book_to_price": (
        r"book[- ](?:to|over)[- ](?:price|market)",
        r"\bb ?/ ?[pm]\b",
        r"price[- ]to[- ]book",
        r"low(?:est)?[- ]p ?/ ?b\b",
        r"(?:cheap|inexpensive|undervalued|bargain|value|discount)\w*[^.;,]*\bbook\b",
        r"(?:trading )?below book",
    ),
    "fcf_yield": (
        r"f(?:ree[- ])?c(?:ash[- ])?f(?:low)?(?:[- ]to[- ]price|[- ]yields?| ?/ ?price)",
        r"(?:cheap|inexpensive|undervalued|bargain|value)\w*[^.;,]*(?:free[- ])?(?:cash[- ]?flow|fcf)",
        r"cash[- ]flow yield",
    ),
    "roe": (r"returns? on (?:shareholders?'?s? |common |book )?equity", r"\broe\b"),
    "gross_profitability": (
        r"gross[- ]profit\w*",
        r"\bgp ?/ ?a\b",
        r"gross (?:margin|profits?)[^.;]*\bassets?\b",
        r"revenue (?:less|minus) (?:cogs|cost of (?:goods|revenue|sales))[^.;]*assets",
    ),
    "low_accruals": (
        r"accruals?",
        r"(?:earnings|profits?)[^.;]*(?:backed|supported|covered|matched|confirmed) by (?:real |actual |operating )?cash",
        r"cash[- ]backed (?:earnings|profits?)",
    ),
    "low_vol_252": (
        r"low(?:er|est)?[- ]vol(?:atility|a)?\b",
        r"(?:calm|quiet|steady|steadier|calmer|least volatile|less volatile|placid|sleepy|boring|smooth)\w*[- ](?:\w+[- ]){0,2}(?:names?|stocks?|shares|compan\w+|movers?)",
        r"(?:daily )?(?:returns?|prices?|moves?)[^.;]*(?:quiet|calm|steady|small|smooth)",
        r"least volatile",
        r"(?:names?|stocks?|shares) (?:that|which) (?:don't|do not|barely|hardly) (?:move|swing|jump)",
        r"low standard deviation",
        r"(?:calm|quiet|steadi)(?:er|est) (?:half|third|ones|part|end)",
    ),
    "low_beta_252": (
        r"low(?:er|est)?[- ]beta",
        r"defensive beta",
        r"beta[^.;]*(?:low|small|below)",
        r"(?:low|little|weak) sensitivity to the (?:market|index)",
        r"move less than the (?:market|index)",
    ),
    "low_max_21": (
        r"lotter\w+",
        r"low(?:est)?[- ]max\b",
        r"(?:max|maximum|largest|biggest) (?:single[- ])?(?:daily|day|one-day)[- ]?(?:return|jump|gain|move|spike)?",
        r"max[- ]effect",
        r"(?:no|without|avoid\w*|free of|few)[^.;,]*(?:daily |single-day |one-day )(?:jumps?|spikes?|pops?)",
    ),
    "revenue_growth": (
        r"(?:revenue|sales|top[- ]?line)s?[- ]grow\w*",
        r"grow\w*[^.;,]*(?:revenues?|sales|top[- ]?line)",
        r"(?:revenues?|sales|top[- ]?line)[^.;,]*(?:grow\w*|rising|expand\w*|increas\w*|climb\w*)",
    ),
    "sue": (
        r"(?:earnings|eps)[- ](?:surprises?|beats?)",
        r"surpris\w*[^.;,]*(?:earnings|eps)",
        r"(?:earnings|eps)[^.;,]*surpris\w*",
        r"unexpected earnings",
        r"\bsue\b",
        r"post[- ]earnings[- ](?:announcement[- ])?drift",
        r"earnings momentum",
    ),
    "small_cap": (
        r"small(?:er|est)?[- ]?(?:cap\w*|size\w*|compan\w+|names?|stocks?|firms?|end)",
        r"(?:modest|low|little|tiny) (?:market[- ])?(?:capitali[sz]ation|market value|size)",
        r"compan\w+ of (?:modest|small)",
        r"size factor",
        r"(?:little|tiny|minor) (?:companies|firms|caps?)",
        r"small and (?:micro|mid)",
    ),
    "zscore_mean": (
        r"z[- ]?scores?",
        r"standardi[sz]\w*[^.;]*(?:averag\w*|mean)",
        r"(?:averag\w*|mean|blend\w*)[^.;]*standardi[sz]\w*",
    ),
    "rank_mean": (
        r"(?:average|averaging|mean|blend\w*|combin\w*|add(?:ing)? up)(?: of)?(?: the| these| their| its)?(?: percentile| two| three| individual)? (?:ranks?|rankings?|percentiles?)\b",
        r"\b(?:ranks|rankings|percentiles)\b[^.;:]*(?:averag\w*|\bmean\b)",
        r"(?:averag\w*|mean)[^.;:]*\b(?:ranks|rankings|percentiles)\b",
    ),
    "sequential_screen": (
        r"sequential\w*",
        r"(?:screen|filter|restrict|narrow|cut|sort)\w*[^.;]*(?:then|from those|among (?:those|the)|what(?:'s| is) left|survivors?|that survive|remain\w*|next)",
        r"double[- ]sort",
        r"two[- ]step",
        r"funnel",
        r"(?:top|best) half[^.;]*(?:then|first)",
        r"first[^.;]*(?:then|from those|after that)[^.;]*(?:rank|pick|keep|retain|take|sort|choose)",
    ),
    "spy_sma": (
        rf"{_MARKET}[^.;]*(?:moving[- ]average|sma\b|\bma\b|200[- ]?day|trend[- ]?line|\baverage\b)",
        rf"(?:moving[- ]average|sma\b|200[- ]?day)[^.;]*{_MARKET}",
        r"(?:moving[- ]average|sma|trend) (?:filter|rule|gate)",
        r"(?:above|over|below|under) (?:its|the|their) (?:\d+[- ]day |long-term |long )?(?:moving[- ])?average",
    ),
    "spy_abs_mom": (
        r"(?:absolute|time[- ]series)[- ]momentum",
        rf"{_MARKET}(?: \(?spy\)?)?[^.;]*(?:itself|own)[^.;]*(?:\bup\b|positive|momentum|negative|down|return)",
        rf"{_MARKET}[^.;]*(?:(?:positive|negative)[^.;]*return|return[^.;]*(?:positive|negative|above zero|below zero))",
        rf"{_MARKET}[^.;]*(?:is|has been|was) (?:up|down|higher|lower)[^.;]*(?:lookback|year|months|sessions)",
        r"market's own momentum",
    ),
    "vix_gate": (r"\bvix\b", r"fear (?:index|gauge)", r"volatility index", r"implied vol\w*[^.;]*(?:high|spike|above)"),
    "breadth": (
        r"\bbreadth\b",
        r"(?:enough|most|percent(?:age)?|share|number|majority|proportion|fraction|plenty)(?: of)? (?:the )?(?:universe|stocks|names|members|basket|list|group)[^.;]*(?:up-?trend|taking part|participat\w*|above|join\w*|rising|healthy)",
        r"only a handful",
        r"participation (?:is|across|of the)",
        r"broad participation",
    ),
    "vol_gate": (
        rf"(?:{_MARKET})(?:'s)? (?:realised |realized )?vol(?:atility)?[^.;]*(?:calm|low|quiet|normal|below|percentile|elevated|high|spik\w*|subdued)",
        r"(?:realised|realized)[- ]vol\w*[^.;]*(?:filter|gate|regime|percentile|calm|low|below|elevated|high)",
        r"vol(?:atility)?[- ]regime",
        r"calm[- ]market",
        rf"(?:when|only|while)[^.;]*{_MARKET}[^.;]*(?:is|stays|are|remains) (?:calm|quiet)",
        rf"volatility of the {_MARKET}[^.;]*(?:calm|low|quiet|percentile|elevated|high)",
    ),
    "equal": (
        r"equal(?:ly)?[- ](?:weight\w*|siz\w*|split|amounts?|dollars?|positions?|stakes?|shares?|parts)",
        r"same (?:amount|size|weight|stake|dollars?|money|share|allocation)\w*(?: in| for| across| each| to| of)?",
        r"\b1 ?/ ?n\b",
        r"weight\w* (?:them |names? |everything |all |each )?(?:the same|equally|evenly)",
        r"split (?:it |the money |the capital |things )?(?:evenly|equally)",
        r"evenly[- ](?:weight\w*|split|spread)",
    ),
    "rank_weighted": (
        r"rank[- ]weight\w*",
        r"weight\w*[^.;]*(?:by|with|on|better|according to|follow\w*|from|step\w*)[^.;]*\brank\w*",
        r"(?:bigger|larger|more|heavier|most)[^.;]*(?:better|higher|top|best)[- ]?rank\w*",
        r"(?:better|higher|top)[- ]rank\w*[^.;]*(?:bigger|larger|more|heavier)",
        r"\brank\w*[^.;]*(?:gets? the most|weights?|heavier|bigger|larger)",
        r"first in the ranking",
    ),
    "score_weighted": (
        r"(?:score|signal|conviction)[- ]weight\w*",
        r"(?:proportion\w*|scal\w*|according|in line|based)[^.;]*\b(?:the |their |its |each )?(?:composite )?(?:scores?|signal|conviction)",
        r"weight\w*[^.;]*(?:by|with|from|follow\w*) (?:the |their |its )?(?:composite )?(?:scores?|signal|conviction)",
        r"stronger the (?:signal|score)[^.;]*(?:more|bigger|larger)",
        r"(?:higher|bigger|stronger|better) (?:scores?|signals?)[^.;]*(?:more|bigger|larger|heavier)",
    ),
    "inverse_vol": (
        r"invers\w*[^.;]*(?:vol\w*|risk)",
        r"1 ?/ ?vol",
        r"one over (?:their |its |the )?vol\w*",
        r"vol(?:atility)?[- ]weight\w*",
        r"(?:calm|quiet|stead|less volatile|low[- ]vol)\w*[^.;]*(?:get|more|bigger|larger|heavier)",
        r"(?:jumpy|volatile|wild|jumpier)\w*[^.;]*(?:get|less|smaller)",
    ),
    "cap_weighted": (
        r"(?:market[- ])?cap(?:itali[sz]ation)?[- ]weight\w*",
        r"weight\w*[^.;]*(?:by|with|on|to|according to|follow\w*)[^.;]*(?:market[- ]?(?:cap\w*|value)|capitali[sz]ation|company size)",
        r"value[- ]weighted",
        r"(?:bigger|larger) (?:compan\w+|names?|caps?)[^.;]*(?:more|bigger|larger|heavier)",
    ),
    "min_variance": (
        r"(?:minimum|min|lowest|least|smallest|minimal)[- ](?:portfolio[- ])?(?:variance|vol\w*)",
        r"minimi[sz]\w*[^.;]*(?:variance|vol\w*|risk)",
        r"\bgmv\b",
        r"variance[^.;]*(?:minimi[sz]\w*|as low as|lowest)",
    ),
    "mean_variance": (
        r"mean[- /]variance",
        r"markowitz",
        r"max(?:imum)?[- ]sharpe",
        r"efficient frontier",
        r"trade[- ]?off[^.;]*(?:expected )?return[^.;]*(?:variance|risk)",
    ),
    "risk_parity": (
        r"risk[- ]parity",
        r"equal(?:ly)?[- ](?:risk|total risk)",
        r"\berc\b",
        r"equal (?:contribution|share)s? (?:to|of) (?:total |the )?risk",
        r"contributes? (?:equally|the same)[^.;]*(?:risk|toxicity|variance|volatility)",
        r"same (?:risk|amount of risk)[^.;]*(?:each|every|from)",
    ),
    "sample": (
        r"(?:sample|plain|ordinary|historical|simple|standard)[^.;,]*covarian\w*",
        r"covarian\w*[^.;,]*(?:plain|sample|as it is|no shrinkage|historical)",
    ),
    "ewma": (
        r"\bewma\b",
        r"exponential\w*[- ](?:weight\w*|decay\w*|covarian\w*|smooth\w*)",
        r"(?:recent|newer|latest)[^.;]*(?:weigh|count|matter)\w*[^.;]*more",
        r"riskmetrics",
        r"half[- ]li(?:fe|ves)",
    ),
    "ledoit_wolf": (r"ledoit", r"shr(?:ink\w*|unk\w*)"),
    "drawdown_stop": (
        r"draw-?downs?[^.;]*(?:cash|out\b|stop\w*|cut|exit\w*|sell\w*|liquidat\w*|limit|hits?|reach\w*|de-risk\w*|flat)",
        r"(?:cash|out\b|stop\w*|cut|exit\w*|sell\w*|liquidat\w*|limit|de-risk\w*|flat)[^.;]*draw-?down",
        r"(?:portfolio|account|book|whole (?:thing|portfolio|account)|everything|equity|it|total)[^.;]*(?:off|below|under|from|down|fall\w*|fell|drop\w*|tank\w*|loses?|lost)[^.;]*(?:high|peak|top|\d+ ?%|percent)[^.;]*(?:cash|out\b|exit\w*|sell\w*|liquidat\w*|stop\w*)",
        r"(?:cash|out\b|exit\w*|sell\w*|liquidat\w*|stop\w*|de-risk\w*)[^.;]*(?:portfolio|account|book|everything|equity|total|it)[^.;]*(?:off|below|under|down|fall\w*|fell|drop\w*|tank\w*|loses?|lost)",
        r"(?:kill[- ]switch|circuit[- ]breaker)",
        r"portfolio(?:-level|-wide)? stops?(?:[- ]loss)?\b",
        r"peak[- ]to[- ]trough",
        r"(?:off|from|below|under) (?:the|its|our|my|their) (?:peak|high|top)\b[^.;]*(?:sold|sell\w*|cash|out\b|liquidat\w*|exit\w*|flat)",
        r"(?:tanks|drops|falls|is down) \d+ ?%[^.;]*(?:out|cash)",
    ),
    "position_stop": (
        r"(?:each|every|per|single|individual|any|its own|own)[- ](?:\w+[- ])?(?:position|name|stock|holding|ticker|one)?s?[^.;]*\bstops?(?:[- ]loss\w*|ped)?\b",
        r"\bstops?(?:[- ]loss(?:es)?)?\b[^.;]*(?:each|every|per|single|individual|any)\b",
        r"stop[- ]loss\w*",
        r"(?:holding|position|name|stock|one)[^.;]*(?:down|below|under|loses?|drops?|falls?|lost)[^.;]*(?:bought|entry|cost|paid|purchase|buy price)[^.;]*",
        r"(?:sell|cut|dump|exit|close)\w*[^.;]*(?:below|under|down|from)[^.;]*(?:entry|cost|paid|bought|purchase|buy price)",
        r"\d+ ?% per (?:name|position|stock|holding)",
        r"(?:below|under|beneath|down from|off) (?:what|where|my|the price) [^.;]{0,20}(?:paid|bought|entry|entered|cost|purchase)",
        r"below (?:its |the |their )?(?:entry|cost|purchase|buy)",
    ),
    "next_close": (
        r"(?:next|following|tomorrow'?s?|t ?\+ ?1)[^.;]{0,24}\bclos(?:e|ing)\b",
        r"\bclos(?:e|ing)(?: auction| price)?[^.;]{0,12}(?:next|following|after|tomorrow)",
        r"market[- ]on[- ]close",
        r"\bmoc\b",
    ),
    "next_open": (r"(?:next|following|tomorrow'?s?|t ?\+ ?1)[^.;]{0,24}\bopen(?:ing)?\b",),
    "staged": (
        r"(?:spread|split|slice|stage|stagger|break|work|scale|build|phase|dribble)\w*[^.;]*(?:days?|sessions?|slices?|tranches?|parts|steps|over time|trade|order)",
        r"(?:slices?|tranches?|instal?ments)\b",
        r"over (?:several|a few|multiple|a couple of|three|five|\d+) (?:days|sessions|opens|mornings)",
        r"\btwap\b",
    ),
    "adv_cap": (
        r"(?:daily|day's|days'|typical|average|trading|traded)[^.;]{0,20}\bvolume",
        r"(?:percent|share|fraction|slice|part|portion|%) of (?:the |a |its |each )?(?:\w+'?s? ){0,3}(?:volume|turnover|adv|liquidity)",
        r"volume[- ]cap\w*",
        r"participation (?:rate|limit|cap)",
        r"\badv\b",
        r"liquidity (?:cap|limit)",
    ),
}

VALUE_TOPICS: dict[str, str] = {
    "drawdown_stop": r"draw-?down|peak|high|top|portfolio|account|everything|tank\w*|cash|kill|out\b|off\b|stop|trough|threshold|loss|limit|book|equity|pot|plug|bail\w*|exit\w*|liquidat\w*|whole|overall",
    "position_stop": r"stop\w*|entry|position|name|holding|bought|cost|paid|each|cut|loss|below|down|per\b|sell|threshold|limit|purchas\w*|buy|stock|share|loser|ditch|dump",
    "vol_target": r"vol\w*|annuali[sz]ed|risk|target|exposure|swings?|wobble|standard deviation|fluctuat\w*",
    "fixed_rate": r"bps|bp\b|basis points?|per trade|a trade|each trade|every trade|cost\w*|commission|fees?|slippage|one[- ]way|per side|trad\w+|fills?\b|each way|transactions?|frictions?|broker\w*|haircut|toll|buys? and sells?|turnover|orders?\b",
}
"""What a sentence must speak of before a number in it counts as that option's value."""


@cache
def phrases(option: str) -> tuple[re.Pattern[str], ...]:
    """Return the compiled phrases of one option; empty for an option nobody voices."""
    return tuple(
        re.compile(rf"(?<![a-z0-9])(?:{pattern})", re.IGNORECASE)
        for pattern in (*PHRASES.get(option, ()), *PARAPHRASES.get(option, ()))
    )


@cache
def value_topic(option: str) -> re.Pattern[str] | None:
    """Return what a sentence must speak of for a number to be this option's value; None when the option has none."""
    topic = VALUE_TOPICS.get(option)
    return None if topic is None else re.compile(rf"(?<![a-z])(?:{topic})", re.IGNORECASE)
