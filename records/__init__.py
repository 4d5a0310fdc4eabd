"""The shared vocabulary: frozen records, errors, limits and paths. It computes nothing and imports nothing of ours."""
