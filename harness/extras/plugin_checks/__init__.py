"""What is expected of plug-ins that take part in runs and commands, one kind a module."""

from __future__ import annotations
