"""Cells computed in this process, in child processes that may die without harm, or on a cluster."""
