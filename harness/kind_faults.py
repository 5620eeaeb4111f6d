"""What is wrong in a section of one of several kinds, located as unions of Pydantic have it."""

from __future__ import annotations

from typing import get_args

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema


def tagged(error: ValidationError, kind: str) -> ValidationError:
    """Return an error of a section with its kind in each location, as unions of Pydantic have it.

    What is found is then explained by the keys of that kind, and not of all.
    """
    lines: list[InitErrorDetails] = []
    for entry in error.errors(include_url=False):
        context = entry.get("ctx", {})
        kind_of_error: str | PydanticCustomError = entry["type"]
        if "hint" in context or entry["type"] not in get_args(core_schema.ErrorType):
            kind_of_error = PydanticCustomError(entry["type"], entry["msg"], context)
        lines.append(
            InitErrorDetails(
                type=kind_of_error,
                loc=(kind, *entry["loc"]),
                input=entry["input"],
                ctx=context,
            )
        )
    return ValidationError.from_exception_data(error.title, lines)
