"""Judges of meaning: what a dimension's finding is, by rules or by a model, and the score computed from it."""
