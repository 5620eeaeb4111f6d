"""The commands of the spine, one a module."""
