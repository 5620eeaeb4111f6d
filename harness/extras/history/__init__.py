"""The values of a run's rows over its earlier runs."""
