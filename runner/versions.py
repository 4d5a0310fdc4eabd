"""Versions that stand in run.json."""

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("docker", "mcp", "httpx", "numpy", "pandas", "scipy", "scikit-learn", "pydantic")
"""What a number in a grade or a call in a session could depend on."""


def product_version() -> str:
    """Return the installed version of this product, `unknown` when it runs from a checkout that was not installed."""
    try:
        return version("fincosmos")
    except PackageNotFoundError:
        return "unknown"


def all_versions() -> dict[str, str]:
    """Return the versions of the product, of Python and of what numbers depend on."""
    return {"fincosmos": product_version(), "python": platform.python_version()} | {
        name: version(name) for name in PACKAGES
    }
