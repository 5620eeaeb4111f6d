"""Fitted models: fit, estimate, recommend, new users, files."""
