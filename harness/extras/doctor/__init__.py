"""Whether an installation is complete, where it keeps things, and how fast it is.

Page: docs/how-to/install.md
"""
