"""Predictions and recommendations of other programs, scored as a run's rows.

Page: docs/how-to/other-programs.md
"""
