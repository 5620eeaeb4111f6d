"""Environment variables in the values of a config: ``${NAME}`` and ``${NAME:-default}``.

``$${NAME}`` stands for the characters ``${NAME}``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode

from harness.config.writing import START
from harness.errors import Fault
from harness.key_paths import brief, dotted
from harness.sections import KeyPath

_BEGIN, _LITERAL, _END, _LONE = "\U000f5b01", "\U000f5b02", "\U000f5b03", "\U000f5b04"
"""What stands for ``${``, ``$${`` and ``}`` while YAML is parsed, where braces have a meaning; the
last for ``$${`` without an end."""
_WRITTEN = re.compile(r"\$?\$\{([^{}\n]*)\}|\$\$\{")
_MARKED = re.compile(f"([{_BEGIN}{_LITERAL}])([^{_END}]*){_END}")
_FORM = re.compile(r"(?a)([A-Za-z_]\w*)(?::-(.*))?")


def marked(text: str) -> str:
    """Return the text of a config with marks in the place of the braces of variables."""

    def mark(match: re.Match[str]) -> str:
        if match[1] is None:
            return _LONE
        begin = _LITERAL if match[0].startswith("$$") else _BEGIN
        return f"{begin}{match[1]}{_END}"

    return _WRITTEN.sub(mark, text)


class Variables:
    """Puts the values of variables into the values of one document, and collects faults.

    Parameters
    ----------
    environment : mapping of str to str
        The variables; `os.environ` by default.

    Attributes
    ----------
    faults : list of Fault
        Variables without a value, and what has another form.
    written : dict
        By key, the text of each value with a variable, as it was written.

    Examples
    --------
    >>> variables = Variables({"SIZE": "0.2"})
    >>> variables.value(marked("${SIZE}"), ("test_size",)), variables.written
    (0.2, {('test_size',): '${SIZE}'})
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = os.environ if environment is None else environment
        self.faults: list[Fault] = []
        self.written: dict[KeyPath, str] = {}
        self._yaml = YAML(typ="safe", pure=True)

    @staticmethod
    def are_in(text: str) -> bool:
        """Return whether a value has a variable in it, or what looks like one."""
        return START in text or _LONE in text or _MARKED.search(text) is not None

    @staticmethod
    def as_written(text: str) -> str:
        """Return a text with marks as it was written."""
        text = text.replace(_BEGIN, START)
        text = text.replace(_LITERAL, "$" + START).replace(_LONE, "$" + START)
        return text.replace(_END, "}")

    def value(self, text: str, path: KeyPath, line: int = 0, *, is_text: bool = False) -> object:
        """Return a value whose variables are replaced; text within quotation marks is text."""
        self.written[path] = self.as_written(text)
        if START in text:  # without an end, or around another variable
            self._refuse(text[text.index(START) :], path, line)
            return None
        value = _MARKED.sub(lambda match: self._replaced(match, path, line), text)
        value = value.replace(_LONE, START)
        return value if is_text else self._typed(value)

    def _typed(self, text: str) -> object:
        """Return what YAML reads as a plain value."""
        tag = self._yaml.resolver.resolve(ScalarNode, text, (True, False))
        if str(tag).endswith(":timestamp"):
            return text
        return self._yaml.constructor.construct_object(ScalarNode(tag, text))

    def _replaced(self, match: re.Match[str], path: KeyPath, line: int) -> str:
        if match[1] == _LITERAL:
            return START + match[2] + "}"
        form = _FORM.fullmatch(match[2])
        if form is None:
            self._refuse(match[0], path, line)
            return ""
        name, default = form.groups()
        value = self.environment.get(name, "")
        if value or default is not None:
            return value or default
        if name not in self.environment:
            message = f"the environment variable {name} is not set; set it, or write a default, as"
            self.faults.append(Fault(line, dotted(path), f"{message} ${{{name}:-default}}"))
        return value

    def _refuse(self, text: str, path: KeyPath, line: int) -> None:
        message = f"found {brief(self.as_written(text))}; write ${{NAME}} or ${{NAME:-default}}"
        self.faults.append(Fault(line, dotted(path), f"{message}, and $${{ for the characters"))

    def in_data(self, value: object, path: KeyPath = ()) -> object:
        """Return Python data with the values of variables in its texts."""
        if isinstance(value, dict):
            return {key: self.in_data(part, (*path, str(key))) for key, part in value.items()}
        if isinstance(value, list | tuple):
            parts = [self.in_data(part, (*path, place)) for place, part in enumerate(value)]
            return parts if isinstance(value, list) else tuple(parts)
        if isinstance(value, str) and START in value:
            return self.value(marked(value), path)
        return value
