"""Layouts of known tools, told by their columns: a raw table to raw tables with plain columns and a role."""
