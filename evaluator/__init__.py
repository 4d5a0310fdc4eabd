"""Grades a captured delivery: package, measure, compare, score, feedback."""
