"""Puts the cases beside these tests within their reach."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
