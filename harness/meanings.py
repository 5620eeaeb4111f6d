"""The texts under the declarations of a section's keys, read from its source when asked for.

Pydantic's `use_attribute_docstrings` reads them whenever a class is imported, for which every run
would wait; only a schema and a new config show them.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise


@cache
def meanings(section: type, root: type) -> dict[str, str]:
    """Return the text under each annotated name of a class, and of its bases up to `root`.

    A name that is declared again has the text of the new declaration, or none. So has a class
    without source, as one that was typed in.
    """
    texts: dict[str, str] = {}
    for base in reversed(section.__bases__):
        if issubclass(base, root):
            texts |= meanings(base, root)  # type: ignore[arg-type]
    try:
        source = textwrap.dedent(inspect.getsource(section))
    except (OSError, TypeError):
        return texts
    declared = ast.parse(source).body[0]
    body = declared.body if isinstance(declared, ast.ClassDef) else []
    for line, below in pairwise([*body, None]):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            texts.pop(line.target.id, None)
            match below:
                case ast.Expr(ast.Constant(str(text))):
                    texts[line.target.id] = inspect.cleandoc(text)
    return texts
