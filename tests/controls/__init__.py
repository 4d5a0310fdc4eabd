"""The control matrix: clean deliveries, mutants with one flaw each, clean variants, and what must come of them."""
