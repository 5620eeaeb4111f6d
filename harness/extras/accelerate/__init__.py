"""Surprise scripts, faster by one line: Surprise's own methods replaced by compiled loops.

``patching`` replaces and puts back; ``replacements`` is what takes the place of each method; the
others are what these call, one subject each.

No entry points: scripts call its functions, or start with ``python -m harness.accelerate``.

Page: docs/how-to/faster-surprise.md
"""

from __future__ import annotations

from harness.extras.accelerate.patching import patch_surprise, patched_surprise, unpatch_surprise
from harness.extras.accelerate.report import patch_report

__all__ = ["patch_report", "patch_surprise", "patched_surprise", "unpatch_surprise"]
