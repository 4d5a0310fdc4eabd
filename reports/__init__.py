"""Turns grades into tables; computed from disk by pure functions."""
