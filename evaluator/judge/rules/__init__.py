"""The rules judge: anchored heuristics over text and structure; it reads words and numbers, never intent."""
