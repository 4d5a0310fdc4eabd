"""Grammar to strategy to task; seeds 0-9 are frozen."""

from generator.conditions import live_conditions, load_conditions, offline_conditions
from generator.count import count_strategies
from generator.task import generate

__all__ = ["count_strategies", "generate", "live_conditions", "load_conditions", "offline_conditions"]
