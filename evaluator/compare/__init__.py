"""2.1-2.6, S, coverage and assumption rate; the only part of the evaluator that sees the strategy."""
