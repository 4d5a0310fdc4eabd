"""One module per file format: bytes to raw tables. Nothing here knows a role."""
