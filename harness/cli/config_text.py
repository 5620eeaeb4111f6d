"""A config as text: each key under its meaning."""

from __future__ import annotations

import io
import itertools
import re
import textwrap
from collections.abc import Mapping

COMMENTED = ("tuning", "baselines", "statistics", "clip", "accelerate", "execution")
"""Keys that are shown with their defaults, as comments."""


def config_text(data: Mapping[str, object], beginning: str, note: str = "") -> str:
    """Return a config file: each key under its meaning, other keys as comments.

    Parameters
    ----------
    data : mapping
        The keys of the config.
    beginning : str
        Comments at the top of the file.
    note : str
        What a reader should know of the scale of the ratings.
    """
    from harness.config.experiment import Experiment
    from harness.config.writing import escaped

    fields, meanings = Experiment.model_fields, Experiment.meanings()
    blocks = [beginning]
    for key, value in data.items():
        text = meanings[key]
        if isinstance(value, dict) and "scale" in value:
            text += " The scale is the range of the file; widen it if other ratings are possible."
            text += f" Note: {note}" if note else ""
        blocks.append(_prose(text) + _yaml(key, escaped(value)))
    blocks.append("# The keys below are optional: remove the `#` to change a default.\n")
    for key in (key for key in COMMENTED if key not in data):
        default = fields[key].get_default(call_default_factory=True)
        if hasattr(default, "model_dump"):
            default = default.model_dump(mode="json", exclude={"validation"})
        commented = textwrap.indent(_yaml(key, default), "#")
        blocks.append(_prose(meanings[key]) + commented)
    return "\n".join(blocks)


def _prose(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, 96))


def _yaml(key: str, value: object) -> str:
    """Return a key with its value; a mapping too long for a line has a line for each key."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    if value is None:
        return f"{key}: null\n"
    entry = CommentedMap({key: value})
    entry.fa.set_block_style()
    yaml, text = YAML(), io.StringIO()
    yaml.default_flow_style = None  # collections without others inside them on one line
    yaml.width = 98
    yaml.dump(entry, text)
    if isinstance(value, dict) and re.search(r"\{[^}]*\n", text.getvalue()):
        return f"{key}:\n" + textwrap.indent("".join(itertools.starmap(_yaml, value.items())), "  ")
    return text.getvalue()
