"""Models of other libraries as rows of a table."""
