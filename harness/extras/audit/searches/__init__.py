"""The checks of an audit, one a module."""
