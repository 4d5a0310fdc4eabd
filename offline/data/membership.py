"""Index membership, ticker events and company names: real, only cut at the frozen today and given one form."""

import pandas as pd

from offline.data.standins import FROZEN_TODAY

EXCHANGES = {"Nasdaq": "NASDAQ", "NYSE": "NYSE", "CBOE": "CBOE", "OTC": "OTC"}


def spells(index: str, history: pd.DataFrame) -> pd.DataFrame:
    """Return membership spells that began by the frozen today: index, symbol, name, opt_in, opt_out (None: still in)."""
    today = pd.Timestamp(FROZEN_TODAY)
    known = history[history["opt-in"] <= today].copy()
    known.loc[known["opt-out"] > today, "opt-out"] = pd.NaT
    table = pd.DataFrame({"index": index, "symbol": known["symbol"], "name": known["name"]})
    table["opt_in"] = known["opt-in"].dt.strftime("%Y-%m-%d")
    table["opt_out"] = known["opt-out"].dt.strftime("%Y-%m-%d")
    return table.sort_values(["opt_in", "symbol"]).reset_index(drop=True)


def events(source: pd.DataFrame) -> pd.DataFrame:
    """Return US delistings and ticker changes by the frozen today: date, kind, old_symbol, new_symbol, name."""
    known = source[source["event_date"] <= pd.Timestamp(FROZEN_TODAY)]
    table = pd.DataFrame({"date": known["event_date"].dt.strftime("%Y-%m-%d"), "kind": known["event_type"]})
    table["old_symbol"] = known["old_symbol"]
    table["new_symbol"] = known["new_symbol"]
    table["name"] = known["new_name"].where(known["new_name"].notna(), known["old_name"])
    return table.sort_values(["date", "old_symbol"]).reset_index(drop=True)


def companies(source: pd.DataFrame) -> pd.DataFrame:
    """Return listed companies as packaged: symbol, name, cik (ten digits), exchange."""
    table = source.rename(columns={"ticker": "symbol"})[["symbol", "name", "cik", "exchange"]].copy()
    table["exchange"] = table["exchange"].map(EXCHANGES)
    return table.drop_duplicates("symbol").reset_index(drop=True)
