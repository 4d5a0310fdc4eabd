"""The only package that imports the Docker SDK."""
