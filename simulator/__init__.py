"""The simulated investor: what is asked, what is answered, when to close; one validator for every back end."""

from simulator.llm import LlmBackend
from simulator.rules import RulesBackend
from simulator.user import Answered, Simulator, UserSimulator, end_reason
from simulator.view import build_view

__all__ = ["Answered", "LlmBackend", "RulesBackend", "Simulator", "UserSimulator", "build_view", "end_reason"]
