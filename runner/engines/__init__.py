"""Engines that run many sessions; the only place that catches broadly."""
