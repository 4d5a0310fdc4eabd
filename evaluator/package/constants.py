"""How much of a delivery is read; what lies beyond is refused with a sentence, never half-read in silence."""

MIB = 1024 * 1024
MAX_FILE_BYTES = 512 * MIB
"""One table that keeps to the types of its first rows; it is mapped, not loaded."""
MAX_LOOSE_BYTES = 64 * MIB
"""One table that must be read leniently (uneven rows, other encodings, JSON, workbooks): its parser needs some ten times
that, the container has 1.5 GiB."""
MAX_TOTAL_BYTES = 1024 * MIB
MAX_FILES = 2_000
MAX_DEPTH = 12
MAX_ROWS = 5_000_000
MAX_COLUMNS = 5_000
MAX_CELLS = 40_000_000
MAX_DELIVERY_CELLS = 50_000_000
"""All tables of a delivery together, as they stay in memory."""
MAX_LOOSE_CELLS = 6_000_000
"""Cells that are read as text one by one, and distinct texts of a typed table; each costs some 60 bytes."""
MAX_TABLES = 200
"""Tables in one file: sheets, keys, database tables."""
MAX_TEXT_BYTES = 4 * MIB
MAX_CONFIG_BYTES = 1 * MIB
MAX_KEYS = 5_000
MAX_JSON_DEPTH = 12
MAX_MEMBERS = 500
"""Members of one archive."""
MAX_RATIO = 200
"""Unpacked over packed bytes; deflate reaches 1032, price tables some 10."""
SQLITE_STEPS = 20_000_000
"""Instructions of SQLite's virtual machine for one file, some seconds."""
WORKSPACE_FILE_BYTES = 32 * MIB
WORKSPACE_TOTAL_BYTES = 512 * MIB
WORKSPACE_MEMBERS = 60_000
"""The sandbox's own inode limit."""
