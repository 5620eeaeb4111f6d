"""Surprise's algorithms by name, and fast: the only part that knows Surprise."""
