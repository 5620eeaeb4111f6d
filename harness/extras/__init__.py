"""Parts beside the main path, each imported only by its name.

The docstring of a part says what it is and names its page; its tests are in ``tests/extras``, under
the name of its folder. ``tests/extras/test_parts.py`` holds that.
"""

from __future__ import annotations
