"""Learning curves: a metric against the fraction of the training ratings.

Page: docs/how-to/power.md
"""
