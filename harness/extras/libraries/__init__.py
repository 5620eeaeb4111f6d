"""Models of other libraries as rows of a table.

Page: docs/how-to/other-programs.md
"""
