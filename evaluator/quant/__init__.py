"""The evaluator's own finance arithmetic: factors, gates, weights, accounting, metrics."""
