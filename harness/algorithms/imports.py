"""What a module's text imports, and what in it no reader of the text can follow."""

from __future__ import annotations

import ast
from typing import NamedTuple

IMPORTERS = ("import_module", "__import__")
"""Functions that import the module of a name."""
EVALUATORS = ("exec", "eval", "compile")
"""Functions that run a text, or make code of it; methods of these names are other functions."""
LOADERS = {
    "run_path": "runs a file",
    "run_module": "runs a module by its name",
    "spec_from_file_location": "imports a file by its path",
    "SourceFileLoader": "imports a file by its path",
    "CDLL": "loads a compiled library",
    "PyDLL": "loads a compiled library",
    "LoadLibrary": "loads a compiled library",
    "load_library": "loads a compiled library",
    "dlopen": "loads a compiled library",
}
"""Functions that run code of a file or by a name, and what they do."""


class Import(NamedTuple):
    """One statement: a module, as the text names it, and the names that are taken from it."""

    module: str
    level: int = 0
    """Dots before the name, of a relative import."""
    names: tuple[str, ...] = ()


class Imports(ast.NodeVisitor):
    """The imports of a text, also in functions, and the reasons why others cannot be known.

    Blocks that run only for a type checker or in a script are left out.

    >>> read = Imports("import numpy as np")
    >>> read.imports
    [Import(module='numpy', level=0, names=())]
    """

    def __init__(self, text: str) -> None:
        self.imports: list[Import] = []
        self.reasons: list[str] = []
        self.aliases: dict[str, str] = {}
        self._called: set[ast.expr] = set()
        try:
            self.visit(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError) as error:
            self.reasons.append(f"cannot be parsed ({type(error).__name__})")

    def visit_Import(self, node: ast.Import) -> None:
        self.imports += [Import(alias.name) for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        names = tuple(alias.name for alias in node.names)
        self.imports.append(Import(node.module or "", node.level, names))
        self.aliases |= {alias.asname: alias.name for alias in node.names if alias.asname}

    def visit_If(self, node: ast.If) -> None:
        test = ast.unparse(node.test)
        skipped = test.endswith("TYPE_CHECKING") and not test.startswith("not ")
        if skipped or test in ("__name__ == '__main__'", "'__main__' == __name__"):
            for statement in node.orelse:
                self.visit(statement)
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Take a function that is used as a value, under another name or by another function."""
        name = self.aliases.get(node.id, node.id)
        if isinstance(node.ctx, ast.Load) and node not in self._called:
            self._use(node, name, is_method=False)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and node not in self._called:
            self._use(node, node.attr, is_method=not _is_builtins(node.value))

    def _use(self, node: ast.expr, name: str, *, is_method: bool) -> None:
        if name in IMPORTERS:
            self._add(node, "imports a module by a computed name")
        elif name in LOADERS:
            self._add(node, LOADERS[name])
        elif name in EVALUATORS and not is_method:
            self._add(node, "runs code made at run time")

    def visit_Call(self, node: ast.Call) -> None:
        self._called.add(node.func)
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute):
            name = function.attr
        elif isinstance(function, ast.Name):
            name = self.aliases.get(function.id, function.id)
        else:
            return
        is_function = isinstance(function, ast.Name) or _is_builtins(function.value)
        first = node.args[0] if node.args else None
        literal = first.value if isinstance(first, ast.Constant) else None
        if name in IMPORTERS and isinstance(literal, str):
            module = literal.lstrip(".")
            self.imports.append(Import(module, len(literal) - len(module)))
        elif name in IMPORTERS:
            self._add(node, "imports a module by a computed name")
        elif name in LOADERS:
            self._add(node, LOADERS[name])
        elif name in EVALUATORS and not isinstance(literal, str) and is_function:
            self._add(node, "runs code made at run time")

    def _add(self, node: ast.expr, reason: str) -> None:
        self.reasons.append(f"{reason} (line {node.lineno})")


def _is_builtins(node: ast.expr) -> bool:
    """Return whether an expression is the module `builtins`, under its own name."""
    return isinstance(node, ast.Name) and node.id in ("builtins", "__builtins__")
