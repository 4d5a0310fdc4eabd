"""What is not real in the offline data, as sentences for run.json and for every table made from such a run."""

FROZEN_TODAY = "2022-12-28"

STANDINS: tuple[str, ...] = (
    "FMP API: stand-in on packaged prices of 25 US stocks, frozen on 2022-12-28",
    "SPY: served from ^GSPC, a price index without dividends, at index level",
    "19 stocks, and AAPL before 2013: bars, volumes and dividends modelled around real adjusted closes",
    "^GSPC: open, high, low and volume before 1999 and after 2018 modelled around real closes",
    "^VIX: closes before 2014-01-03 and after 2019-01-03 modelled from ^GSPC; open, high and low modelled throughout",
    "treasury rates: modelled after 2017-03-29",
    "statements, filing and acceptance dates, shares, market caps, earnings dates: modelled",
    "economic indicator CPI: core CPI (CPILFESL) stands in for the headline index",
)
