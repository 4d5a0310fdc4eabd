"""The sealed-side model process: the one door through which the simulated user and the judge reach a model."""
