"""What is the same for every process that a run starts: it ends with its launcher and logs no secret."""
