"""Reports, code and other texts of a delivery."""

import json
import re

from evaluator.package.constants import MAX_TEXT_BYTES
from evaluator.package.delivery import Document
from evaluator.package.files import Found

REPORTS = frozenset({".md", ".markdown", ".html", ".htm", ".rst", ".tex", ".qmd"})
CODE = frozenset(
    {".py", ".ipynb", ".r", ".sh", ".sql", ".jl", ".js", ".ts", ".cpp", ".c", ".java", ".rs", ".go", ".toml", ".cfg"}
)
TEXTS = frozenset({".txt", ".log", ".yaml", ".yml", ".ini", ".mk", ""})
_REPORT_NAME = re.compile(r"report|summary|findings|memo|conclusion", re.IGNORECASE)
_README = re.compile(r"^readme", re.IGNORECASE)


def suffix_of(path: str) -> str:
    """Return the lower-case ending with its dot; '' when there is none."""
    name = path.rsplit("/", 1)[-1]
    return f".{name.rsplit('.', 1)[1].lower()}" if "." in name.lstrip(".") else ""


def document(found: Found, data: bytes) -> Document | None:
    """Return a text as a document; None when the file is no text kind."""
    suffix = suffix_of(found.path)
    name = found.path.rsplit("/", 1)[-1]
    if suffix in CODE or name in ("Makefile", "Dockerfile"):
        kind = "code"
    elif suffix in REPORTS:
        kind = "text" if _README.match(name) else "report"
    elif suffix in TEXTS:
        kind = "report" if suffix == ".txt" and _REPORT_NAME.search(name) else "text"
    else:
        return None
    text = data[:MAX_TEXT_BYTES].decode("utf-8-sig", "replace")
    return Document(found.path, kind, _cells(text) if suffix == ".ipynb" else text, found.turn)


def _cells(text: str) -> str:
    """Return a notebook's cells, code as it stands and prose as comments; the raw text when it does not parse."""
    try:
        cells = json.loads(text)["cells"]
        parts = []
        for cell in cells:
            source = "".join(cell["source"])
            prose = "\n".join(f"# {line}" for line in source.splitlines())
            parts.append(source if cell["cell_type"] == "code" else prose)
        return "\n\n".join(parts)
    except (ValueError, TypeError, LookupError, RecursionError):
        return text
