"""Everything that needs no strategy: program facts, dimensions, feedback text."""
