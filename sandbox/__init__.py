"""One sealed container per session: limits, freeze between turns, stop with proof, capture, clean-up.

`protocol` is what adapters and the session loop see; `engine/` alone knows Docker; `fake` is a sandbox for tests.
"""
