"""One module per agent; `runner.wiring` alone imports them."""
