"""The values of a run's rows over its earlier runs.

Page: docs/how-to/gate.md
"""
