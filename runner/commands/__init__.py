"""One module per command of the program; each turns options into one call and prints its result."""
