"""start / send / finalize for each agent. `protocol` is the contract; `backends/` holds one module per agent."""
