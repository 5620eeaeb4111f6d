"""Models of the library implicit that are fitted in this process."""
