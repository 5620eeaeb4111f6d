"""Expectations of plug-ins that take part in runs and commands, one kind a module.

Page: docs/how-to/other-plug-ins.md
"""

from __future__ import annotations
