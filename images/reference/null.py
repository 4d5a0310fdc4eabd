"""The null control agent: says hello, delivers nothing."""

from __future__ import annotations

import json
import sys

sys.stdin.buffer.read()
print(json.dumps({"message": "Hello."}), flush=True)
