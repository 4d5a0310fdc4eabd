"""Ticker spellings to one: exchange prefixes, country endings, share classes, security ids, parent columns."""

import re

_PREFIX = re.compile(r"^(NASDAQ|NYSE|NYSEARCA|ARCA|AMEX|NYSEAMERICAN|BATS|CBOE|XNAS|XNYS|US|NAS|NYQ|NMS)[:.](?=[A-Z])")
_ENDING = re.compile(r"(?<=[A-Z0-9])(\.US|\.O|\.OQ|\.N|\.NYSE|\.NASDAQ| US EQUITY| US| EQUITY|:US|-US)$")
_CLASS = re.compile(r"^([A-Z]{1,5})[./ ]([A-Z])$")
_SECURITY_ID = re.compile(r"^([A-Z.]{1,6}) [A-Z0-9]{8,}$")
_PERMNO = re.compile(r"^(\d+)\.0$")
RENAMED = {
    "FB": "META", "ANTM": "ELV", "WLTW": "WTW", "BLL": "BALL", "PKI": "RVTY", "ABC": "COR", "RE": "EG", "CTL": "LUMN",
    "VIAC": "PARA", "SYMC": "GEN", "NLOK": "GEN", "BBT": "TFC", "HCP": "DOC", "PEAK": "DOC", "FISV": "FI",
    "COG": "CTRA", "TMK": "GL", "JEC": "J", "UTX": "RTX", "HRS": "LHX", "CBG": "CBRE", "KORS": "CPRI", "COH": "TPR",
    "PCLN": "BKNG", "WYN": "TNL", "LB": "BBWI", "GPS": "GAP", "FLT": "CPAY", "CDAY": "DAY", "PX": "LIN", "DPS": "KDP",
}  # fmt: skip
"""Ticker changes without a new company, old to new; used only where the old name has no prices and the new one has."""


def plain_symbol(text: str) -> str:
    """Return the one spelling of a ticker that every table of a delivery is brought to."""
    name = text.strip().strip("'\"")
    name = name.rsplit(">", maxsplit=1)[-1].strip()
    upper = name.upper()
    if upper.startswith("^") or not upper:
        return upper or name
    upper = _PREFIX.sub("", upper)
    found = _SECURITY_ID.match(upper)
    if found and any(c.isdigit() for c in upper.split(" ", 1)[1]):
        upper = found[1]
    upper = (
        _CLASS.sub(r"\1-\2", upper) if upper.endswith((".A", ".B", ".C", ".K", "/A", "/B", "/C", " A", " B")) else upper
    )
    shorter = _ENDING.sub("", upper)
    upper = _CLASS.sub(r"\1-\2", shorter) if shorter != upper else upper
    return _PERMNO.sub(r"\1", upper)
