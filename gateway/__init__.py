"""The sandbox's only way out, outside the sandbox: FMP over MCP, the web route; every call is logged."""
