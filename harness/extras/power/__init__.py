"""Which differences a run can find, and what it needs for one.

Page: docs/how-to/power.md
"""
