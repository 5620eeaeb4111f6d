"""Base of all parts of a config: unknown keys are faults, types are not converted."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Section"]


class Section(BaseModel):
    """A part of a config whose keys are declared once, here.

    Validation, ``harness schema``, the reference page and the help all come from the fields' types
    and descriptions. Unknown keys are errors; ``"5"`` is not converted to 5.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )
