"""Whether a candidate is worse than what is in use."""
