"""One module per agent; chosen by name in runner.wiring only."""
