"""A template: one plug-in of each kind."""
