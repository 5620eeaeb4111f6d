"""Experiments as files: every key declared once, every fault named at once."""
