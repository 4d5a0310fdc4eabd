"""How much of a delivery is read; what lies beyond is refused with a sentence, never half-read in silence."""

MIB = 1024 * 1024
MAX_FILE_BYTES = 96 * MIB
"""One table: about a million price rows; pandas needs some five times that, the container has 1.5 GiB."""
MAX_TOTAL_BYTES = 256 * MIB
MAX_FILES = 2_000
MAX_DEPTH = 12
MAX_ROWS = 2_000_000
MAX_COLUMNS = 5_000
MAX_CELLS = 40_000_000
MAX_TEXT_BYTES = 4 * MIB
MAX_CONFIG_BYTES = 1 * MIB
MAX_KEYS = 5_000
MAX_JSON_DEPTH = 12
WORKSPACE_FILE_BYTES = 32 * MIB
WORKSPACE_TOTAL_BYTES = 512 * MIB
WORKSPACE_MEMBERS = 60_000
"""The sandbox's own inode limit."""
