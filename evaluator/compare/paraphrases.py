"""Further ways to say a conviction, each a group of things and what is said of them rather than a turn of phrase.

`lexicon.PHRASES` holds the terms of the trade; this holds how people speak who do not use them: retail slang, plain
English, and the words of a laboratory. Both are read alike.
"""

_G = r"[^.;]{0,60}"
_S = r"[^.;]{0,30}"
_FIRM = r"(?:stocks?|names?|compan\w+|shares?|firms?|business\w*|issuers?|tickers?|charts?|stuff|things|outfits?|ones|paper|candidates?)"
_INDEX = r"(?:market|index|spy|s&p(?: ?500)?|tape|benchmark|averages)"
_CHEAP = r"(?:cheap\w*|inexpensive|bargains?|undervalued|underpriced|discount\w*|on sale|low[- ]price\w*|low multiples?|low valuations?|a low price|pay(?:ing)? (?:little|less|not much)|small price|for (?:peanuts|pennies))"
_COST = r"(?:price\w*|market (?:cap\w*|value)|valuation|quote|what (?:the |a )?(?:\w+ )?(?:it |they |you |i |we )?(?:costs?|pay|sells? for|trades? at|is worth|are worth|fetch\w*)|price tag|going rate|sticker|share price)"
_AGAINST = r"(?:against|relative to|versus|vs\.?|compared (?:with|to)|for|over|per|to|on|in relation to|next to|divided by|measured against|given|set against)"
_SWING = r"(?:wild|volatile|jumpy|jumpier|choppy|rough|nervous|bouncy|swingy|erratic|shaky|stormy|turbulent|wilder|rocky|twitchy|violent)"
_QUIET = r"(?:calm|quiet|steady|sleepy|boring|dull|placid|tame|stable|gentle|smooth|sedate|docile|uneventful|snoozy|low[- ]key)\w*"
_YEAR = r"(?:(?:past |last |trailing |previous |whole )?(?:12|twelve)[- ]months?|(?:past|last|previous|trailing|whole|full) (?:year|12 months|twelve months)|a year|one year|52 weeks|last year(?:'s)?|year)"
_HALF = r"(?:(?:6|six)[- ]months?|half[- ]year|half a year|26 weeks|two quarters|(?:past|last) two quarters)"
_MONTH = r"(?:(?:past|last|previous|recent|prior|whole|one|this|a|four)[- ](?:month|weeks)(?:'s)?|21[- ](?:days?|sessions?)|four weeks|30 days|month)"
_WEEK = r"(?:(?:past|last|previous|prior|one|this|a)[- ](?:week|five days|5 days)(?:'s)?|(?:5|five)[- ](?:days?|sessions?)|few days|week)"
_RISE = r"(?:climbers?|gainers?|soar\w*|surg\w*|rall\w+|advanc\w*|appreciat\w*|hottest|hot hand|runners?|went up|go(?:ne|ing) up|on a (?:roll|tear|run)|best (?:returns?|performers?|performing|run)|top performers?|highest (?:returns?|gains?)|strongest (?:returns?|gains?|price\w*|performers?)|biggest (?:gains?|risers?|returns?)|worked|in favour|done (?:best|well)|did (?:best|well)|responders?)"
_FALL = r"(?:crash\w*|tumbl\w*|punish\w*|batter\w*|bruis\w*|sank|sunk|sink\w*|crush\w*|smok\w*|dump\w*|bled|tank\w*|pull(?:ed)?[- ]?back\w*|snap[- ]?back\w*|overdone|overreact\w*|worst (?:returns?|performers?|performing)|down (?:the )?(?:most|hard|big|bad)\w*|beaten[- ]up|washed[- ]out|oversold|wreck\w*|clobber\w*|got (?:hit|hurt|killed)|in the doghouse|falling knives|biggest (?:drops?|falls?|decliners?)|non-?responders?|relaps\w*|went down|gone down|lagg\w+|cratered|sagg\w+|slip\w*)"
_OWNER = r"(?:equity|(?:shareholders?'?s?|owners?'?s?|stockholders?'?s?|investors?'?s?)'? (?:capital|funds|money|stakes?|equity|investment)|net worth|capital (?:the |of )?(?:its )?(?:owners|shareholders))"
_BIG = r"(?:bigger|larger|more|heavier|biggest|largest|most|heaviest|fatter|greater|extra|higher)"
_LITTLE = r"(?:smaller|less|lighter|lower|thinner|smallest|least|trimmed|cut|tiny|reduced|shrink\w*|fewer)"
_STAKE = r"(?:weights?|weighting|sizes?|sizing|stakes?|allocations?|dos(?:e|es|age|ing)|bets?|positions?|amounts?|money|capital|slices?|portions?|shares?|share of the (?:pie|pot)|exposure)"
_WHOLE = r"(?:portfolio|account|book|fund|whole (?:thing|lot|book|pot|portfolio|account)|everything|total|equity|pot|nest egg|overall|cohort|in aggregate)"
_LEAVE = r"(?:cash|get out|gets? me out|i'?m out|we'?re out|bail\w*|exit\w*|sell\w*|sold|liquidat\w*|flatten\w*|pull the plug|shut (?:it )?down|stop(?:ped|s)? (?:out|the|trading|everything)|halt\w*|terminat\w*|abort\w*|close (?:it|everything)|unwind\w*|dump\w*|walk away|get flat|discontinu\w*)"
_SLIP = r"(?:down|off|under|below|beneath|los(?:e|es|t|ing)|fall\w*|fell|drop\w*|sink\w*|slid\w*|slump\w*|declin\w*|gives? (?:back|up)|gave back|shed\w*|retrac\w*|from)"
_PEAK = r"(?:peak|high|top|best level|high[- ]water(?: mark)?|maximum|record)"
_ENTRY = r"(?:entry|entered|cost|paid|bought|purchas\w*|buy[- ]?in|buy price|got in|acquisition|enrol?ment)"
_EACH = r"(?:each|every|any|per|single|individual|one|a|the)"
_CALM_NOW = rf"(?:calm|quiet|steady|tame|placid|settled|low|subdued|{_SWING[3:-1]}|elevated|high|hectic|on fire|spik\w*|acting up|unstable|bumpy|restless)"

PARAPHRASES: dict[str, tuple[str, ...]] = {
    "mom_12_1": (
        rf"{_YEAR}{_S}\b{_RISE}",
        rf"\b{_RISE}{_S}\b{_YEAR}",
        rf"{_YEAR}(?:'s)? (?:is|as) (?:my|the|our) (?:window|horizon|look-?back)",
    ),
    "mom_6_1": (
        rf"{_HALF}{_S}\b{_RISE}",
        rf"\b{_RISE}{_S}\b{_HALF}",
        rf"{_HALF} (?:is|as) (?:my|the|our) (?:window|horizon|look-?back)",
    ),
    "high_52w": (
        r"(?:top|upper (?:end|part|edge)|ceiling|roof|peak|summit|high(?:s|est)?(?: point| level| price)?) (?:of|in|for|over) (?:their|its|the|a)? ?(?:past |last |own )?(?:yearly|annual|one[- ]year|52[- ]week|12[- ]month|twelve[- ]month|year(?:'s|ly)?)(?: (?:range|band|channel|chart|price))?",
        rf"(?:near|close to|at|around|just (?:below|beneath|under|shy of|short of|off)|hovering|hugging|knocking|within (?:a |an )?(?:\w+ ){{0,3}}of|touching|a whisker|a hair|brushing|testing|flirting){_S}\b(?:year(?:'s|ly)?|52[- ]week|12[- ]month|twelve[- ]month|annual|one-year){_S}\b(?:high\w*|peak\w*|top\w*|maxim\w+|ceiling)",
        r"(?:price|close|quote)\w*(?: today)? (?:over|divided by|relative to|versus|against) (?:the |its |their )?(?:highest|maximum|max|peak|yearly high)",
        r"(?:new|fresh|recent|setting|making|hitting) (?:\w+[- ])?highs?\b",
    ),
    "rev_21": (
        rf"{_MONTH}{_S}\b{_FALL}",
        rf"\b{_FALL}{_S}\b{_MONTH}",
        r"month(?:'s)? (?:is|as|for) (?:my|the|our|a) (?:window|horizon|look-?back|period|yardstick)",
    ),
    "rev_5": (
        rf"{_WEEK}{_S}\b{_FALL}",
        rf"\b{_FALL}{_S}\b{_WEEK}",
        r"week(?:'s)? (?:is|as|for) (?:my|the|our|a) (?:window|horizon|look-?back|period|yardstick)",
    ),
    "earnings_yield": (
        rf"{_CHEAP}{_G}\b(?:earn\w*|profits?|income|bottom line|make)\b",
        rf"(?:earnings?|profits?|net income|income|bottom line|what they earn|money they make)\b{_S}\b{_AGAINST} (?:\w+ ){{0,3}}{_COST}",
        rf"(?:lots?|plenty|much|more|most|high|big|dollars?) (?:of )?(?:earnings?|profits?|net income|income)\b{_S}\b(?:per|for|each|every) (?:\w+ ){{0,3}}(?:dollar|buck|price|invested)",
        r"(?:low|small|modest|single[- ]digit) (?:price[- ]to[- ]earnings|earnings multiples?|multiples? of (?:earnings|profits?)|p ?/? ?e)\b|(?:few|low number of) (?:years|times) (?:of )?earnings",
        r"(?:price|pay\w*|cost\w*|trad\w+ at) (?:\w+ ){0,4}(?:relative to|compared (?:with|to)|against|versus|vs\.?|for|times|multiple of) (?:\w+ ){0,3}(?:earnings|profits?|net income|what they earn)",
    ),
    "book_to_price": (
        rf"{_CHEAP}{_G}\b(?:books?|net assets|asset value|carrying value|balance[- ]sheets?|net worth|liquidation value|stated equity)\b",
        rf"(?:books?|book (?:value|equity)|net assets|asset value|carrying value|accounting (?:value|equity)|balance[- ]sheet (?:value|equity)|net worth|common equity)\b{_S}\b{_AGAINST} (?:\w+ ){{0,3}}{_COST}",
        r"(?:price\w*|pay\w*|cost\w*|trad\w+|valued|market (?:value|cap\w*))\b[^.;]{0,45}\b(?:relative to|compared (?:with|to)|against|versus|vs\.?|below|under|close to|less than|near|to) (?:\w+ ){0,3}(?:books?|book (?:value|equity)|net assets|carrying value|balance[- ]sheet\w*|accounting value|net worth)\b",
        r"(?:deep|classic|old[- ]school|graham\w*)[- ]?(?:style )?value\b",
    ),
    "fcf_yield": (
        rf"{_CHEAP}{_G}\b(?:cash flows?|free cash|fcf|cash generation|cash they (?:\w+))\b",
        rf"(?:free cash(?: flows?)?|fcf|cash flows?|cash generation|spare cash|cash (?:left|they|it|after)[^.;]{{0,30}})\b{_S}\b{_AGAINST} (?:\w+ ){{0,3}}{_COST}",
        r"cash (?:machines?|cows?|gushers?|generators?|printers?)",
        r"(?:lots?|plenty|much|more|most|high|big|throw\w*|gush\w*|spit\w*|generat\w+|produc\w+) (?:\w+ ){0,3}(?:free cash|cash flow|cash)\b[^.;]{0,45}\b(?:price|market (?:cap\w*|value)|cost|valuation|pay|worth)",
        r"(?:price\w*|pay\w*|market (?:value|cap\w*)) (?:\w+ ){0,4}(?:relative to|against|versus|vs\.?|for|times|multiple of) (?:\w+ ){0,3}(?:free cash|cash flows?|fcf)",
    ),
    "roe": (
        rf"(?:profit\w*|earn\w*|income|returns?|make|made|generat\w+|bottom line){_S}\b(?:on|per|relative to|against|over|from|for each|for every|out of|with|to|versus|compared with) (?:\w+ ){{0,5}}{_OWNER}",
        rf"{_OWNER}{_S}\b(?:earns?|earning|returns?|compound\w*|puts? to work|works? hard|productive|turned into profits?)",
        r"(?:high|good|strong|best|top)[- ](?:roe|return (?:for|to) (?:owners|shareholders))",
    ),
    "gross_profitability": (
        r"(?:sales|revenues?|turnover)\b[^.;]{0,12}\b(?:less|minus|after|net of|over and above) (?:the )?(?:direct |production |manufacturing |cost|what)\w*[^.;]{0,50}\b(?:assets?|balance sheet|asset base)",
        r"(?:gross (?:income|earnings|margins?|profit\w*|surplus))\b",
        r"(?:assets?|asset base|balance sheet)[^.;]{0,40}\b(?:gross|squeez\w*|throw\w* off|churn\w*)[^.;]{0,30}(?:profit|margin|income)",
    ),
    "low_accruals": (
        r"(?:earnings?|profits?|income|bottom line)\b[^.;]{0,40}\b(?:show\w* up|turn\w* (?:up|into)|arriv\w+|convert\w*|com(?:e|es|ing)|land\w*|backed|made|paid|collected|match\w*|are|is|as)\b[^.;]{0,20}\b(?:cash|bank)\b",
        r"cash (?:conversion|earnings|backing|quality)|(?:earnings|profit|income) quality|quality of (?:earnings|profits?)",
        r"(?:paper|accounting|book-?keeping|non-?cash|phantom|accrued|on-paper) (?:profits?|gains?|earnings|income)",
        r"cash flows?\b[^.;]{0,20}\b(?:match\w*|exceed\w*|cover\w*|back\w*|support\w*|keep\w* up|above|confirm\w*|tops?|in line)\b[^.;]{0,20}\b(?:earnings|profits?|income)",
        r"(?:gap|difference|spread|distance) between (?:reported |net |stated )?(?:earnings|profits?|income) and (?:operating )?cash",
        r"real cash\b[^.;]{0,20}\b(?:behind|under|in|backing)",
    ),
    "low_vol_252": (
        rf"{_QUIET}[- ](?:\w+[- ]){{0,2}}(?:charts?|prices?|movers?|rides?|ones|names?|stocks?|shares|compan\w+|stuff|returns?|paths?|lines?|equities|tickers?|things)",
        r"(?:small|little|tiny|low|minor|modest|narrow|tight|minimal)[- ](?:\w+[- ])?(?:daily|day[- ]to[- ]day|price|return|everyday)[- ](?:moves?|movements?|swings?|changes?|fluctuations?|variation|variability|wiggles?|wobbles?|noise|range|dispersion|variance)",
        rf"{_FIRM} (?:that |which |whose (?:price|chart|quote) )?(?:don't|do not|doesn't|barely|hardly|rarely|scarcely|never) (?:\w+ )?(?:move|moves|swing|jump|wobble|budge|bounce|flinch|twitch|fluctuate|wiggle)",
        r"(?:low|least|little|lowest|minimal|small|smallest)[- ](?:price |return )?(?:variability|dispersion|sigma|noise|fluctuation|standard deviation|wobble|variance in (?:price|returns?))",
        r"(?:names?|stocks?|shares) (?:that |which )?(?:let|allow)s? (?:me|you|us) sleep|sleep[- ]well",
        r"(?:flat|flattest|smoothest|calmest|quietest|steadiest|gentlest|dullest)\b[^.;]{0,25}\b(?:charts?|lines?|prices?|returns?|names|stocks|paths?|ride)?",
    ),
    "low_beta_252": (
        rf"(?:mov\w+|swing\w*|react\w*|respond\w*|follow\w*|fall\w*|drop\w*|track\w*) (?:\w+ )?(?:less|little|weakly|only (?:a bit|partly|half)|half as (?:much|hard)) (?:\w+ ){{0,3}}(?:than|with|to|when|as|of)?\s?(?:\w+ ){{0,2}}{_INDEX}",
        rf"(?:loose\w*|weak\w*|barely|hardly|little|low|small|muted|slight) (?:\w+ )?(?:tied|coupled|linked|connect\w*|correlat\w*|co-?mov\w*|sensitiv\w*|exposure|respons\w*|coupling|link|dependen\w*|attach\w*)[^.;]{{0,15}}\b(?:to|with|on)? ?(?:the |broad )?{_INDEX}",
        r"betas? (?:well |far |clearly |that are )?(?:under|below|less than|beneath|close to zero|near zero|of half)|(?:smallest|least|lowest|low|tiny|little|minimal) (?:market )?beta\w*",
        rf"(?:insensitive|immune|indifferent|numb|resistant) to (?:the |what the )?(?:\w+ )?{_INDEX}",
        r"(?:low|small|little|least)[- ](?:market|systematic|index)[- ](?:risk|exposure|sensitivity)",
        rf"{_INDEX}[^.;]{{0,25}}\b(?:sneez\w*|drops?|falls?|moves?|swings?|panics?)[^.;]{{0,25}}\b(?:barely|hardly|shrug\w*|less|half|don't|do not)",
    ),
    "low_max_21": (
        r"(?:lotter\w+|lotto|jackpots?|moon-?shots?|meme|casino|gambl\w+|scratch[- ]?cards?|slot machines?)",
        r"(?:single|one|1|in a|big|wild|sudden|huge|giant|crazy|freak|extreme|massive|explosive)[- ](?:\w+[- ])?(?:day|daily|session|overnight)[- ]?(?:\w+ )?(?:pops?|spikes?|jumps?|bursts?|moves?|gains?|returns?|rockets?|leaps?|surges?|outliers?)",
        r"(?:spik\w+|popp?\w*|jump\w*|explod\w*|rocket\w*|leap\w*|shot up|burst\w*|surg\w*|blew up)[^.;]{0,20}\b(?:in|on|within|over) (?:a|one|any|some) (?:single )?(?:day|session)",
        r"(?:biggest|largest|best|highest|maximum|top|wildest|single best) (?:single )?(?:up[- ])?(?:day|daily (?:return|gain|move)|session)\b",
        r"(?:no|without|avoid\w*|skip|shun\w*|steer clear of|nothing with|free of) (?:\w+ ){0,3}(?:spikes?|jumps?|pops?|jumpers|spikers|outlier days|rockets)",
    ),
    "revenue_growth": (
        r"(?:sales|revenues?|top[- ]?lines?|turnover|takings|billings|receipts|business volume)\b[^.;]{0,35}\b(?:grow\w*|rising|ris(?:e|es)|expand\w*|accelerat\w*|climb\w*|increas\w*|faster|ramp\w*|up\b|higher than|bigger than|soar\w*|jump\w*|doubl\w*|compound\w*)",
        r"(?:fast\w*|rapid\w*|quick\w*|strong\w*|high\w*|steep\w*|accelerat\w*)[- ]?(?:\w+ )?(?:grow\w*|expan\w+|ris\w+|ramp\w*|climb\w*|increas\w*)\b[^.;]{0,30}\b(?:sales|revenues?|top[- ]?lines?|turnover|takings|billings)",
        r"(?:sell\w*|selling|invoic\w*|ship\w*) (?:\w+ ){0,3}more (?:\w+ ){0,3}(?:than|every|each) (?:a |last |the )?(?:year|quarter)",
        r"(?:fast|rapid|high)[- ]?(?:est)?[- ]growers?\b|top[- ]?line growth|(?:fastest|quickest)[- ]growing",
    ),
    "sue": (
        r"(?:earnings?|eps|profits?|quarterly (?:numbers|results|reports?|figures)|results?|numbers|quarters?|print)\b[^.;]{0,35}\b(?:surpris\w*|beats?\b|beating|beaten|better than|ahead of|above (?:what|expect\w*|forecast\w*|trend)|topp\w+|exceed\w*|stronger than|blow\w*|blew|shock\w*|out of line|unexpected\w*|unusual\w*)",
        r"(?:beat\w*|topp\w+|exceed\w*|surpass\w*|blew past|blow\w* past|smash\w*|crush\w*|clear\w*) (?:\w+ ){0,4}(?:estimates?|expectations?|consensus|forecasts?|guidance|the street|their own (?:past|trend|history)|the same quarter)",
        r"(?:positive|upside|biggest|largest|strongest|pleasant|good|nice) (?:\w+ )?surpris\w*",
        r"(?:surpris\w*|unexpected\w*)[^.;]{0,35}\b(?:earn\w*|eps|profits?|quarters?|results?|numbers|report\w*)",
        r"(?:earnings|eps|profit)[- ](?:shocks?|jumps?|innovations?|upsets?)",
    ),
    "small_cap": (
        r"(?:minnows?|underdogs?|little guys?|small fry|tiddlers?|micro[- ]?caps?|small[- ]?caps?|smallest|tiniest|littlest)\b",
        r"(?:light\w*|low\w*|small\w*|tin(?:y|iest|ier)|little|modest|less) (?:the |in |by |on )?(?:market )?(?:caps?|capitali[sz]ations?|market values?|company size|float)\b",
        r"(?:toward|towards|at|to|from|in|on|down|into|near) the (?:small\w*|micro|tiny|little|lower|light|lightweight|bottom)[- ]?(?:cap )?(?:end|side|tail|corner|part|half)",
        r"(?:small|tiny|little|smaller|lesser|minor)[- ](?:\w+[- ])?(?:compan\w+|names?|stocks?|firms?|outfits?|players?|ones|issuers?|business\w*)",
        r"(?:size|market cap\w*|market value|capitali[sz]ation)\b[^.;]{0,20}\b(?:low|small|as small|below|lightest|smallest|least|under|tilt)",
        r"(?:not|away from|instead of|rather than|over|no) (?:the )?(?:giants|mega[- ]?caps?|behemoths|heavyweights|big boys|large caps?|elephants)",
    ),
    "zscore_mean": (
        r"(?:common|same|one|comparable|equal|single|shared|unified) (?:scales?|footing|yardstick|units?|ruler|metric|basis)\b[^.;]{0,60}\b(?:averag\w*|means?|add\w*|sum\w*|combin\w*|blend\w*|mix\w*|pool\w*|merg\w*)",
        r"(?:averag\w*|mean|add\w*|sum\w*|combin\w*|blend\w*|pool\w*)[^.;]{0,60}\b(?:common|same|one|comparable) (?:scales?|footing|yardstick|units?|ruler)",
        r"(?:normali[sz]\w*|standardi[sz]\w*|re-?scal\w*|de-?mean\w*)\b[^.;]{0,60}\b(?:averag\w*|mean|add\w*|sum\w*|combin\w*|blend\w*|mix\w*|pool\w*)",
        r"(?:averag\w*|mean|add\w*|sum\w*|combin\w*|blend\w*|pool\w*)[^.;]{0,50}\b(?:normali[sz]\w*|re-?scal\w*)",
        r"(?:standard deviations?|sigmas?|sds?)\b[^.;]{0,30}\b(?:from|above|away|off) (?:the )?(?:\w+ )?(?:mean|average|peers|norm|centre|center)",
        r"z'?s\b|z[- ]?values?|z[- ]?them|z[- ]?transform\w*",
    ),
    "rank_mean": (
        r"(?:places?|positions?|spots?|standings?|ordinals?|order|seats?|rungs?|league position|percentiles?|ranks?|rankings?)\b[^.;]{0,40}\b(?:averag\w*|means?\b|add\w*|sum\w*|total\w*|divid\w*|split the difference)",
        r"(?:averag\w*|mean of|add\w* up|sum\w*|total\w*|add)\b[^.;]{0,25}\b(?:places?|positions? (?:on|in)|spots?|standings?|ordinals?|league|percentiles?|ranks?|rankings?|rungs?)\b",
        r"(?:rank|order|sort|line) (?:\w+ ){0,4}(?:on|by) (?:each|every|both|all)[^.;]{0,40}\b(?:averag\w*|mean|add|sum|combine)",
    ),
    "sequential_screen": (
        r"(?:screen|filter|siev\w*|gate|triage|cull|weed|whittl\w*|narrow\w*|short-?list\w*|prune|trim|throw out|discard|knock out|eliminat\w*)\b[^.;]{0,90}\b(?:then|next|after\w*|second|rest|left|remain\w*|surviv\w*|those|pass\w*|before)",
        r"(?:whatever|what|who\w*|those|the ones|names?|stocks|anything) (?:that |which )?(?:surviv\w*|is left|are left|'s left|remain\w*|pass\w*|gets? through|make\w* (?:it|the cut))",
        r"(?:keep|take|retain|hold on to|leave in|start with) (?:only )?(?:the )?(?:better|best|top|upper|cheaper|calmer|stronger|good|first|higher)\w* half\b",
        r"one after (?:the other|another)|in (?:sequence|succession|stages|turn|order, not)|step by step|stage by stage|(?:two|three|multi)[- ](?:stages?|phases?|steps?|rounds?|pass(?:es)?)\b|(?:first|initial) (?:cut|pass|round|hurdle|screen|filter|gate)",
        r"(?:out|from) (?:of|among) (?:those|these|them|the survivors|that half|what remains|the remainder|the rest)",
        r"\bfirst\b[^.;]{0,70}\b(?:then|second|next|after)\b|inclusion criteri\w+",
    ),
    "spy_sma": (
        rf"{_INDEX}\b{_G}\b(?:(?:moving|trailing|running|rolling|long[- ](?:run|term)|200|two[- ]hundred)[- ]?(?:day |session |term )?(?:averages?|mean|line|trend)|trend[- ]?line|long[- ]term trend|ten[- ]month average|its trend|mean price|averages? (?:of|over))",
        rf"(?:moving|trailing|running|rolling|long[- ](?:run|term)) (?:averages?|mean|line){_G}\b{_INDEX}",
        r"(?:above|over|below|under|beneath|north of|south of|through|crosses?) (?:its|the|their|a) (?:\w+[- ]){0,3}(?:averages?|mean|trend(?:[- ]?line)?)\b",
        r"200[- ]?(?:dma|day|d\b|ma)|golden cross|death cross",
    ),
    "spy_abs_mom": (
        rf"{_INDEX}(?:'s)?\b{_S}\b(?:own|itself|its own)\b{_S}\b(?:returns?|trend|momentum|gains?|performance|positive|track record|up\b)",
        rf"{_INDEX}\b{_S}\b(?:higher|up|lower|down|gain\w*|made money|making money|in the (?:green|black|red)|positive|negative|lost|ahead|profit\w*)\b{_S}\b(?:than|over|on|from|versus|compared|against|for|in|during) (?:\w+ ){{0,4}}(?:year|months?|period|look-?back|ago|window|start|stretch)",
        rf"(?:trailing|past|recent|look-?back|12[- ]month|twelve[- ]month|six[- ]month) (?:\w+ )?(?:returns?|gains?|performance|change)\b{_S}\b{_INDEX}{_S}\b(?:positive|negative|above|below|over|under|plus|minus|green|red)",
        rf"{_INDEX}\b{_S}\b(?:trailing|past|recent|look-?back) (?:\w+ )?(?:returns?|gains?|performance)",
    ),
    "vix_gate": (
        r"\bvix\b|fear (?:index|gauge|barometer|meter|thermometer)|volatility index|panic (?:index|gauge|meter)",
        r"implied vol\w*|option[- ]implied|(?:option|options)(?: market)?(?:'s)? (?:prices?|pricing|implied|premiums?)[^.;]{0,30}\b(?:vol\w*|fear|panic|turbulence|risk|swings?)",
        r"(?:index|s&p) options?\b[^.;]{0,30}\b(?:expensive|pricing|pricey|imply|signal|vol\w*)",
    ),
    "breadth": (
        r"(?:enough|most|few|too few|less|majority|half|share|percent\w*|number|fraction|proportion|part|many|plenty|handful|bulk)\b[^.;]{0,30}\b(?:names?|stocks?|members?|universe|list|basket|constituents?|compan\w+|tickers?|cohort|group|pack|them)\b[^.;]{0,45}\b(?:up-?trends?|own (?:average|trend|moving)|above|rising|trending|participat\w*|going up|climbing|healthy|joining|in gear|heading up|long-term average)",
        r"(?:rall(?:y|ies)|advance|market|move|rise|strength|participation|uptrend)\b[^.;]{0,20}\b(?:broad\w*|narrow\w*|thin|wide\w*|carried by (?:a )?few|shared by)",
        r"(?:broad|narrow|wide|thin)[- ]?(?:based)? (?:rall\w+|advances?|participation|market|strength|leadership)",
    ),
    "vol_gate": (
        r"(?:vol(?:atility)?|turbulence|storm|calm\w*|choppiness)[- ](?:filter|gate|switch|rule|regime|brake|screen|check|guard)",
        rf"(?:when|if|once|while|unless|as long as|until|whenever|only|should) (?:\w+ )?(?:the )?(?:broad |overall |whole |stock )?{_INDEX}(?:'s)?\b[^.;]{{0,20}}\b{_CALM_NOW}",
        rf"{_INDEX}(?:'s)? (?:own )?(?:realised |realized |daily |recent |actual )?(?:vol\w*|swings?|moves?|fluctuations?|turbulence)\b{_G}\b(?:{_CALM_NOW}|percentile|usual|normal|history|historical|past|own)",
        rf"(?:vol\w*|swings?|turbulence|moves?) (?:of|in|on) the {_INDEX}\b",
        rf"(?:calm|quiet|placid|choppy|rough|stormy|turbulent|jumpy|volatile|wild)[- ](?:{_INDEX}|waters|seas|tape|times|conditions)\b",
    ),
    "equal": (
        r"(?:identical|matching|uniform|flat|even|same|equal)[- ](?:\w+[- ])?(?:weights?|weighting|sizes?|sized?|stakes?|amounts?|bets?|dos(?:e|es|ing|age)|slices?|shares?|splits?|pieces?|portions?|money|dollars?|cash|positions?|parts|allocations?|chunks?)\b",
        rf"(?:each|every|all|any) (?:\w+ )?(?:{_FIRM[3:-1]}|holdings?|positions?|picks?|of them|one)\b{_S}\b(?:same|equal\w*|identical|alike|as much|even\w*)\b",
        r"(?:split|divid\w+|spread|share|cut|slice|carve|distribut\w+|allocate|deal)\b[^.;]{0,40}\b(?:even\w*|equal\w*|the same|alike|uniformly)",
        r"even[- ](?:steven|split)|evenly|(?:as much|the same) in (?:one|each|every)|pro rata by (?:count|head)|no favou?rites|one n-?th|weigh\w* (?:them |all |everything )?(?:alike|identically|uniformly)",
    ),
    "rank_weighted": (
        rf"(?:top|best|first|front|number one|head|leaders?|winner|higher|better|upper|further up)\b{_S}\b(?:rank\w*|lists?|tables?|order|ladder|league|queue|pecking order|place[ds]?|placings?|spots?)\b{_S}\b{_BIG}\b",
        rf"{_BIG} (?:\w+ ){{0,2}}{_STAKE}\b{_S}\b(?:top|best|first|front|number one|leaders?|higher|better|upper)\b{_S}\b(?:rank\w*|lists?|tables?|order|ladder|league|place[ds]?|placings?|spots?)",
        rf"{_STAKE}\b{_S}\b(?:taper\w*|step\w* down|slid\w* down|declin\w*|fall\w*|shrink\w*|decreas\w*|drop\w*|descend\w*|scaled?)\b{_S}\b(?:rank\w*|lists?|tables?|order|ladder|league|place|position)\b",
        r"(?:taper\w*|stair\w*|sliding scale|staggered|graduated|graded)\b[^.;]{0,40}\b(?:rank\w*|list|table|order|ladder|top|first)|(?:rank\w*|top|first|list)\b[^.;]{0,50}\b(?:taper\w*|stair\w*|sliding scale|graduated)",
        rf"(?:rank|place|position|spot|standing) (?:in|on) the (?:list|ranking|table|ladder|league)\b{_S}\b(?:sets?|decid\w*|determin\w*|driv\w*|dictat\w*|governs?|fix\w*)",
        rf"(?:rank\w*|ordinal\w*)\b{_S}\b(?:sets?|decid\w*|determin\w*|driv\w*|dictat\w*|governs?)\b{_S}\b{_STAKE}",
    ),
    "score_weighted": (
        rf"{_STAKE}\b{_S}\b(?:proportion\w*|escalat\w*|scal\w*|grow\w*|ris\w*|climb\w*|track\w*|follow\w*|increas\w*|titrat\w*|in line|depend\w*|match\w*|mirror\w*|reflect\w*)\b{_S}\b(?:scores?|signals?|composite|conviction|strength of)",
        rf"(?:scores?|signals?|composite|conviction)(?:'s)?(?: strength| size| value)?\b{_S}\b(?:sets?|decid\w*|determin\w*|driv\w*|dictat\w*|governs?|scal\w*|proportion\w*|translat\w*)\b{_S}\b{_STAKE}",
        rf"(?:dose|dosing|dosage)\b{_S}\b(?:scores?|signals?|composite|conviction|response)",
        rf"(?:stronger|higher|bigger|better|louder|larger|more)\b{_S}\b(?:scores?|signals?|composite|conviction)\b{_S}\b{_BIG}\b",
        rf"{_BIG}\b{_S}\b(?:stronger|higher|bigger|better|louder)\b{_S}\b(?:scores?|signals?|composite|conviction)",
    ),
    "inverse_vol": (
        rf"{_LITTLE}\b{_S}\b(?:when|if|where|for|the|in|on|of|to|as|it'?s|they'?re)\b{_S}\b{_SWING}\b",
        rf"{_SWING}\b{_S}\b{_LITTLE}\b",
        rf"{_BIG}\b{_S}\b{_QUIET}|{_QUIET}\b{_S}\b(?:get|have|receiv\w*|take|carry|deserve)\w*\b{_S}\b{_BIG}\b",
        r"(?:weight\w*|siz\w+|allocat\w+|stakes?|positions?|scal\w+)\b[^.;]{0,25}\b(?:by|against|over|to|on|for|with) (?:\w+ ){0,3}(?:own )?(?:vol\b|volatil\w+|choppiness|standard deviation|swings?)",
        r"(?:divid\w+|scal\w+ down) (?:\w+ ){0,4}(?:by|with) (?:\w+ ){0,3}(?:vol\b|volatil\w*|standard deviation|swings?)|(?:reciprocal|inverse|opposite)\b[^.;]{0,30}\b(?:vol\b|volatil\w*|standard deviation|risk|swings?)",
        r"(?:vol|volatility)[- ](?:adjusted|scaled|normali[sz]ed|parity)|higher vol\w*[^.;]{0,25}\b(?:smaller|less|lower|lighter)",
    ),
    "cap_weighted": (
        rf"(?:bigger|larger|biggest|largest|heavier|giant|big|large) (?:compan\w+|names?|caps?|firms?|issuers?|stocks?|ones|business\w*)\b{_S}\b(?:get|have|receiv\w*|take|carry|weigh|earn|deserv\w*|count|draw|command|attract)\w*\b{_S}\b{_BIG}\b",
        rf"(?:{_STAKE}|weight\w*|size\w*)\b{_S}\b(?:by|in line with|according to|follow\w*|proportion\w*|with|track\w*|mirror\w*|reflect\w*|on|from)\b (?:\w+ ){{0,3}}(?:market[- ]?(?:caps?|value\w*|capitali[sz]ation\w*)|company size|capitali[sz]ation\w*|size of (?:the|each) (?:company|firm|business))",
        r"(?:market[- ]?cap\w*|market[- ]value|capitali[sz]ation|value|float|index|s&p)[- ](?:style )?(?:weights?|weighted|weighting)\b",
        r"(?:like|as|the way) (?:the |an |any )?(?:index|s&p|big index\w*|etfs?)(?: funds?)? (?:do|does|weigh\w*|would|is)",
    ),
    "min_variance": (
        r"(?:least|lowest|smallest|minimum|min|minimal)[- ](?:\w+[- ]){0,2}(?:variance|vol\b|volatility|wobble|swings?|fluctuation|risk (?:portfolio|mix|book|combination))",
        r"(?:calmest|smoothest|steadiest|quietest|least (?:jumpy|volatile|bumpy|risky)|tamest|gentlest|flattest)\b[^.;]{0,25}\b(?:portfolio|book|mix|ride|combination|whole|blend|basket|path|weights?|curve|line)",
        r"(?:as|so) (?:calm|smooth|quiet|steady|tame|stable|little (?:variance|risk|vol\w*)) as (?:possible|it gets|can be|the math\w* allows?|they can|it can)",
        r"(?:minimi[sz]\w*|squeez\w*|push\w* down|drive\w* down|bring\w* down|crush\w*)\b[^.;]{0,30}\b(?:variance|vol\b|volatility|fluctuations?|wobble|swings?|jitter|portfolio risk|overall risk|total risk)",
        r"(?:variance|vol\w*|wobble|swings?|fluctuation)\b[^.;]{0,25}\b(?:minimi[sz]\w*|as (?:low|small) as|at its (?:lowest|minimum)|bottom)",
    ),
    "mean_variance": (
        r"optimi[sz]\w*\b[^.;]{0,40}\b(?:mean|returns?|alpha|scores?|rewards?|upside|efficacy)\b[^.;]{0,30}\b(?:variance|risk|vol\w*|toxicity)",
        r"(?:mean|expected (?:returns?|gains?)|rewards?|alpha|upside|expected|efficacy|payoff)\b[^.;]{0,25}\b(?:against|versus|vs\.?|per unit of|minus|less|net of|penali[sz]\w*|for|and|balanced? (?:with|against)|traded? off|weighed)\b (?:\w+ ){0,3}(?:variance|risk|covariance|toxicity|vol\b|volatility)",
        r"(?:risk[- /](?:return|reward)|return[- /]risk|reward[- ]to[- ]risk)[- ]?(?:trade-?off|optimi\w*|balance|frontier|utility)?",
        r"(?:quadratic|mean) (?:utility|optimi\w*|programme|program)|tangency|modern portfolio theory|\bmpt\b|harry markowitz|efficient (?:portfolio|frontier)|(?:best|maximum|highest|max) (?:expected )?(?:sharpe|return per unit)",
    ),
    "risk_parity": (
        r"(?:each|every|all)\b[^.;]{0,30}\b(?:bring\w*|contribut\w*|add\w*|carr\w+|bear\w*|chip\w*|suppl\w+|account\w*|own\w*|responsible|get\w*|tak\w+|put\w*)\b[^.;]{0,30}\b(?:same|equal\w*|as much|identical|even|alike)\b[^.;]{0,20}\b(?:risk|vol\w*|variance|toxicity|danger|swing)",
        r"(?:risk|variance|volatility|toxicity)\b[^.;]{0,25}\b(?:split|shared?|spread|budget\w*|divided|distribut\w*|balanced|comes|apportion\w*|carved)\b[^.;]{0,25}\b(?:equal\w*|even\w*|same|alike|across|fair\w*|equi\w*)",
        r"(?:equal\w*|balanc\w*|even(?:ed)?|level\w*|match\w*|identical|same)[- ](?:\w+ ){0,3}(?:risk|toxicity|variance|volatility)[- ]?(?:contributions?|budgets?|shares?|load|burden|weights?|weighted|slices?|parts?)?\b",
        r"risk[- ](?:budget\w*|balanced|parity|weighted)|no (?:single )?(?:name|stock|position|holding) dominat\w* (?:the )?risk",
    ),
    "sample": (
        r"(?:plain|ordinary|historical|raw|simple|vanilla|straight|straightforward|textbook|unadjusted|unshrunk|naive|empirical|sample|standard|basic|usual|bog[- ]standard|regular|untouched|classical)\b[^.;,]{0,25}\b(?:covarian\w*|matrix|matrices|estimat\w+|correlations?|co-?movement\w*)",
        r"(?:covarian\w*|matrix|correlations?|co-?movement\w*)\b[^.;]{0,30}\b(?:as (?:it is|is|they are|they come|measured|observed)|plain|straight (?:from|out of)|raw|unadjusted|nothing fancy|no (?:tricks|shrink\w*|adjust\w*|frills)|from (?:the )?(?:sample|history|past returns)|without (?:shrink\w*|tricks|adjust\w*|weight\w*|frills)|untouched|unmodified)",
    ),
    "ewma": (
        r"(?:recent|newer|newest|latest|fresh\w*|last week\w*|yesterday|current|new)\b[^.;]{0,35}\b(?:counts?|counting|weigh\w*|matters?|dominat\w*|gets?|carr\w+|given|heav\w+|emphasi\w+)\b[^.;]{0,20}\b(?:more|most|heav\w*|extra|greater|higher|stronger|weight)",
        r"(?:old\w*|stale|distant|past|ancient|earlier|aged)\b[^.;]{0,30}\b(?:fad\w*|decay\w*|count\w* (?:for )?less|matters? less|forgot\w*|forget\w*|discount\w*|die out|dies? off|weigh\w* less|less (?:and less )?weight|wash\w* out|lose weight|down-?weight\w*)",
        r"(?:exponential\w*|decay\w*|fading|half-?li(?:fe|ves)|memory)\b[^.;]{0,30}\b(?:covarian\w*|matrix|weights?|weighted|weighting|estimat\w*|memory|correlations?|decay|half)",
        r"(?:covarian\w*|matrix|correlations?)\b[^.;]{0,50}\b(?:exponential\w*|decay\w*|fad(?:e|es|ing)|half-?life|forget\w*|recent\w*|newer|latest|fresh\w*)",
    ),
    "ledoit_wolf": (
        r"(?:shr(?:ink|ank|unk)\w*|regulari[sz]\w*|ledoit\w*|pulled (?:in|toward\w*)|pull\w* (?:it|them|the \w+) toward\w*|drag\w* [^.;]{0,20}toward\w*|nudg\w* [^.;]{0,20}toward\w*|tam(?:e|ed|ing) [^.;]{0,20}(?:matrix|covarian\w*)|damp\w* [^.;]{0,20}(?:matrix|covarian\w*)|bias\w* [^.;]{0,20}toward\w*)",
        r"(?:covarian\w*|matrix|correlations?|estimat\w+)\b[^.;]{0,40}\b(?:shr(?:ink|unk)\w*|regulari[sz]\w*|toward\w* (?:a |the |some )?(?:target|identity|average|structured|simple|diagonal|prior)|damped|blended with|conditioned)",
    ),
    "drawdown_stop": (
        rf"{_WHOLE}\b{_G}\b{_SLIP}\b{_G}\b{_LEAVE}",
        rf"{_LEAVE}\b{_G}\b{_WHOLE}\b{_G}\b{_SLIP}\b",
        rf"{_SLIP}\b[^.;]{{0,30}}\b{_PEAK}\b{_G}\b{_LEAVE}",
        rf"{_LEAVE}\b{_G}\b{_SLIP}\b[^.;]{{0,30}}\b{_PEAK}\b",
        rf"draw-?downs?\b{_G}\b{_LEAVE}|{_LEAVE}\b{_G}\bdraw-?downs?",
        r"(?:trailing|portfolio|account|book|equity|fund)[- ](?:\w+[- ])?(?:stops?|circuit|breaker|kill)\b|stops?\b[^.;]{0,20}\bon the (?:whole|portfolio|account|book|total|fund)\b",
        r"stopping rule|futility (?:boundary|stop)|emergency (?:brake|exit|stop)|kill[- ]?switch|circuit[- ]?breaker|rip ?cord|eject\w*|peak[- ]to[- ](?:trough|valley)|top[- ]to[- ]bottom",
        rf"(?:max(?:imum)?|largest|biggest|deepest) (?:tolerated |acceptable |allowed )?(?:draw-?down|loss from (?:the )?{_PEAK}|peak loss)\b",
    ),
    "position_stop": (
        r"(?:per|each|every|single|individual|name|stock|position|holding|ticker)[- ](?:\w+[- ])?(?:level )?(?:hard )?stops?\b(?:[- ]?loss\w*)?",
        rf"\b(?:hard )?stops?(?:[- ]loss(?:es)?)?\b[^.;]{{0,25}}\b(?:on|for|in|under|at|by|below) (?:\w+ )?(?:each|every|any|all|individual|single|{_FIRM[3:-1]}|holdings?|positions?|entry|lines?)\b",
        rf"(?:{_FIRM[3:-1]}|holdings?|positions?|line|loser|anything|one|it|arm|pick)\b{_S}\b{_SLIP}\b{_S}\b(?:its |the |my |our |their |where |what |from )(?:\w+ ){{0,3}}{_ENTRY}",
        rf"(?:under|below|beneath|down from|off|beyond|less than|from|against|versus) (?:its |the |my |our |their |his |where |what |when )?(?:\w+ ){{0,3}}{_ENTRY}",
        r"(?:cut|dump|ditch|kick\w*|toss|bin|axe|boot|drop|sell|close|exit|terminate|discontinue|get rid of|unload|chuck)\b[^.;]{0,30}\b(?:losers?|any (?:name|stock|position|holding)|each (?:name|stock|position|holding)|(?:a|the) (?:name|stock|position|holding|loser|arm))\b[^.;]{0,45}\b(?:\d|percent|below|under|down|loss|lost|loses|entry|cost|bought|paid)",
        r"(?:stopp\w+ out|stops?) (?:name by name|stock by stock|one by one|individually|line by line|position by position)|stop[- ]?loss\w*|individual stops?",
        rf"{_EACH} (?:\w+ )?(?:{_FIRM[3:-1]}|holdings?|positions?|loser)\b[^.;]{{0,30}}\b(?:los(?:es|t)|drops?|falls?|is down|sinks?|goes down|gives up) (?:\w+ ){{0,2}}(?:\d+|ten|fifteen|twenty|eight)\b",
    ),
    "next_close": (
        r"clos(?:e|es|ing)\b(?: price| auction| bell| print| cross)?[^.;]{0,15}\b(?:day (?:one|1|two|after)|next|following|after|tomorrow'?s?|subsequent|t ?(?:\+|plus) ?(?:1|one)|(?:a|one) (?:day|session) (?:later|after|on))",
        r"(?:day (?:one|1|after)|next|following|tomorrow'?s?|subsequent|t ?(?:\+|plus) ?(?:1|one)|(?:a|one) (?:day|session) (?:later|after|on)|(?:day|session) after)\b[^.;]{0,30}\bclos(?:e|es|ing)\b",
        r"(?:at|on|into|by) (?:the )?(?:closing (?:bell|auction|cross|print|price)|final bell|close)\b[^.;]{0,30}\b(?:next|following|after|later|tomorrow)",
        r"(?:wait|sleep on it|hold off|lag)[^.;]{0,30}\b(?:day|session|night)\b[^.;]{0,30}\bclos\w+",
        r"(?:end|finish) of (?:the )?(?:next|following) (?:day|session)|(?:next|following) (?:day|session)(?:'s)? (?:end|finish|final (?:price|print|bell))",
    ),
    "staged": (
        r"(?:work|spread|split|slic\w+|feed\w*|drip\w*|eas(?:e|ing)|leg\w*|phas\w+|stagger\w*|chop\w*|break\w*|trickl\w*|build\w*|scal\w+|titrat\w*|stretch\w*|dribbl\w*|parcel\w*|ladder\w*|fractionat\w*|divid\w+)\b[^.;]{0,40}\b(?:over|across|in|into|through|during) (?:the )?(?:next )?(?:several|a few|multiple|some|a couple of|a number of|two|three|four|five|\d+|consecutive|successive|small|equal)\b[^.;]{0,15}\b(?:days?|sessions?|mornings?|opens?|chunks?|bits?|pieces?|portions?|parts?|clips?|lots?|steps?|stages?|tranches?|slices?|doses?|visits?)",
        r"(?:bit by bit|little by little|piecemeal|in (?:stages|parts|steps|clips|chunks|pieces|bits|portions|dribs)|drip[- ]?feed\w*|gradual\w*|day by day|over (?:several|a few|multiple|some|a couple of) (?:days|sessions|mornings)|tranch\w+|instal+ments)",
        r"(?:not|never|rather than|instead of|don't|without) (?:\w+ ){0,4}(?:all (?:at once|in one)|in one (?:go|shot|hit|clip|order|day|piece)|at (?:once|one time)|one big (?:order|trade)|a single (?:day|order|trade|print|go|shot))",
        r"(?:dose|titrate|ramp|ease|leg|scale|build|work) (?:in|into|out|orders?|positions?|trades?|the orders?)\b[^.;]{0,25}\b(?:over|slow\w*|gradual\w*|days?|sessions?|time)",
    ),
    "adv_cap": (
        r"(?:sliver|small (?:share|part|slice|piece|fraction|bit|portion)|fraction|few percent|tiny (?:bit|part|share|fraction)|slice|little bit|portion|share|part|percent\w*|piece|\d+ ?%) of (?:the |a |its |each |that |any )?(?:\w+'?s? ){0,2}(?:what (?:trades?|changes? hands|is traded|gets traded|goes through)|trading|volume|turnover|tape|flow|prints?|liquidity|shares? traded)",
        r"what (?:trades|changes hands|is traded|gets traded|goes through)\b",
        r"(?:cap\w*|limit\w*|bound\w*|ceiling|restrict\w*|keep|kept|stay\w*|remain\w*)\b[^.;]{0,45}\b(?:volume|turnover|liquidity|adv|tape|flow|what trades)\b",
        r"(?:volume|turnover|liquidity|adv|participation)\b[^.;]{0,25}\b(?:cap\w*|limit\w*|ceiling|bound|restrict\w*|constraint|share|fraction|percent\w*)\b",
        r"(?:small|minimal|light|no big|tiny) (?:market )?(?:footprint|impact)\b|(?:move|push|disturb|budge|shake|spook) the (?:price|market|tape|stock)",
    ),
}
"""Further phrases of each option, read beside the lexicon."""
