"""The simulated investor: what is asked, what is answered, when to close; one validator for every back end."""

from simulator.rules import RulesBackend
from simulator.user import Simulator, UserSimulator, end_reason
from simulator.view import build_view

__all__ = ["RulesBackend", "Simulator", "UserSimulator", "build_view", "end_reason"]
