"""The command line, the plan, the session loop and the engines; nobody imports this package."""
