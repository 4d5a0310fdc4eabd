"""What was delivered, as typed tables: recognition of files and columns. Knows no strategy."""
