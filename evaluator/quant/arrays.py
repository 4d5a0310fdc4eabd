"""Array type names used throughout the room."""

from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
DayArray = np.ndarray[Any, np.dtype[np.datetime64]]
