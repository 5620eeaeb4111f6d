"""The texts under the keys of sections, as a schema shows them."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from harness.schema.sections import Section


class _Base(Section):
    key: int = 1
    """One line."""

    again: str = ""
    """Of the base."""

    dropped: str = ""
    """Not of what is declared again."""

    bare: int | None = None


class _Derived(_Base):
    again: str = "a"
    """Two lines,
    the second indented."""

    dropped: str = "b"
    number: Annotated[int, Field(description="Stated.")] = 2
    """Not this."""


class _PydanticBase(BaseModel, use_attribute_docstrings=True):
    key: int = 1
    """One line."""

    again: str = ""
    """Of the base."""

    dropped: str = ""
    """Not of what is declared again."""

    bare: int | None = None


class _PydanticDerived(_PydanticBase):
    again: str = "a"
    """Two lines,
    the second indented."""

    dropped: str = "b"
    number: Annotated[int, Field(description="Stated.")] = 2
    """Not this."""


@pytest.mark.parametrize(
    ("section", "model"), [(_Base, _PydanticBase), (_Derived, _PydanticDerived)]
)
def test_the_texts_under_keys_are_those_that_pydantic_reads_at_import(section, model):
    shown = section.model_json_schema()["properties"]
    assert shown == model.model_json_schema()["properties"]
    assert shown["key"]["description"] == section.meanings()["key"] == "One line."
    assert all(field.description is None for field in _Base.model_fields.values())


def test_a_section_that_was_typed_in_has_no_texts():
    space = {"Section": Section, "__name__": "typed"}
    exec('class Typed(Section):\n    key: int = 1\n    """A text."""\n', space)
    assert space["Typed"].meanings() == {}
    assert "description" not in space["Typed"].model_json_schema()["properties"]["key"]
