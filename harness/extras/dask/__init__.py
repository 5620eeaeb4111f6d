"""Cells on a cluster of Dask."""
