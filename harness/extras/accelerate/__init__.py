"""Surprise scripts, faster by one line: Surprise's own methods replaced by compiled loops.

``patching`` replaces and puts back; ``entrances`` takes the place of each method, and leaves small
calls to Surprise as long as ``worth`` foretells that they save less than it takes to load the rest:
``replacements``, and what that calls, one subject each.

No entry points: scripts call its functions, or start with ``python -m harness.accelerate``.

Page: docs/how-to/faster-surprise.md
"""

from __future__ import annotations

from harness.extras.accelerate.patching import patch_surprise, patched_surprise, unpatch_surprise

__all__ = ["patch_surprise", "patched_surprise", "unpatch_surprise"]
