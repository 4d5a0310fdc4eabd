"""A stand-in for the FMP API on the prepared offline data: `python -m offline.fmp`, bound to loopback only."""

from offline.fmp.process import FmpProcess, start_fmp

__all__ = ["FmpProcess", "start_fmp"]
