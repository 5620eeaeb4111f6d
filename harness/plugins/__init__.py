"""The door of plug-ins: what a name stands for, from this package and from others."""
