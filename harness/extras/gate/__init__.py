"""Whether a candidate is worse than what is in use.

Page: docs/how-to/gate.md
"""
