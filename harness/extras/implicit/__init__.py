"""Models of the library implicit that are fitted in this process.

Page: docs/how-to/implicit.md
"""
