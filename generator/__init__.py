"""Grammar to strategy to task; seeds 0-9 are frozen."""
