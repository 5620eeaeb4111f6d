"""Cells on a cluster of Dask.

Page: docs/how-to/scale.md
"""
