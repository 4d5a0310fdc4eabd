"""Where sessions run. An engine alone decides about voids, retries and cancels (docs/adr/0005-void-versus-graded.md)."""
