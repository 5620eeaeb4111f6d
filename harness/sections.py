"""Base classes of the parts of a config, the quantities and the search spaces that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import (
    CoreSchema,
    PydanticCustomError,
    core_schema,
)

from harness import plugins
from harness.errors import PluginError, suggestion
from harness.plugins import folded as folded

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of a config to a value."""
PATHS = frozenset({"path", "test", "train", "file"})
"""Keys of data sets and splits that name files."""
MOST_SECONDS = 31_536_000.0
"""A year: the longest time limit."""


class Section(BaseModel):
    """A part of a config: validation, schema, reference page and help come from its fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    short: ClassVar[str] = ""
    """The key that a plain string in place of the section is the value of; empty for none."""
    added: ClassVar[Set[str]] = frozenset()
    """Keys that came after identities were first written: a default of theirs is in none."""

    @classmethod
    def spelled_out(cls, value: object) -> object:
        """Return a plain string as the mapping that it stands for, and all else as it is."""
        return {cls.short: value} if cls.short and isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, value: object) -> object:
        return cls.spelled_out(value)

    @classmethod
    def meanings(cls) -> dict[str, str]:
        """Return the text under the declaration of each key."""
        from harness.meanings import meanings

        texts = meanings(cls, Section)
        return {key: text for key, text in texts.items() if key in cls.model_fields}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        made = handler(schema)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        for key, text in cls.meanings().items():
            shown = properties.get(cls.model_fields[key].alias or key, {})
            shown.setdefault("description", text)
        return made

    def stated(self, exclude: Set[str] = frozenset()) -> dict[str, Any]:
        """Return the keys that are not defaults as plain data, and each kind."""
        return self.model_dump(mode="json", exclude_defaults=True, exclude={*exclude})

    def identity(self) -> dict[str, Any]:
        """Return all keys, less those that were added and are defaults, as plain data."""
        fields = type(self).model_fields
        unused = {key for key in self.added if getattr(self, key) == fields[key].default}
        return self.model_dump(mode="json", exclude=unused)


def plain_data(data: object) -> object:
    """Return a copy of Python data, with NumPy's numbers and arrays as Python's."""
    if isinstance(data, np.generic | np.ndarray):
        return data.tolist()
    if isinstance(data, Mapping):
        return {key: plain_data(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        plain = [plain_data(value) for value in data]
        return plain if isinstance(data, list) else tuple(plain)
    return data


class _OneOrMore:
    """Lets a list of one be written without brackets."""

    @staticmethod
    def __get_pydantic_core_schema__(source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        read = BeforeValidator(
            lambda value: value if isinstance(value, list) else [value],
            json_schema_input_type=get_args(source)[0] | source,
        )
        return handler.generate_schema(Annotated[source, Field(min_length=1), read])


T = TypeVar("T")
OneOrMore = Annotated[list[T], _OneOrMore]


class Kind(Section):
    """A section of which there are several kinds, each a class with a literal `kind`.

    A direct subclass is a family: it has no `kind`, declares as abstract methods what every kind
    must have, and as the type of a field stands for all its kinds, each of which is imported when
    it is named. One that lacks an abstract method does not import. The kinds of a family are
    plug-ins, or those of its `homes`.
    """

    short = "kind"
    plugin_kind: ClassVar[str] = ""
    """The group of `harness.plugins` that has the kinds; empty where no plug-in can add one."""
    homes: ClassVar[Mapping[str, str]] = {}
    """By kind, ``module:class`` of the kinds of a family without plug-ins."""
    family: ClassVar[str] = ""
    """What messages call the kinds."""
    of_record: ClassVar[str] = ""
    """``module:class`` of what stands for a kind of a run whose code is not imported."""

    if TYPE_CHECKING:
        kind: str

    @model_serializer(mode="wrap")
    def _keep_kind(
        self, dump: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, object]:
        kind_entry = {"kind": self.kind} if info.exclude_defaults else {}
        return {**kind_entry, **dump(self)}

    @classmethod
    def __pydantic_init_subclass__(cls, **options: object) -> None:
        super().__pydantic_init_subclass__(**options)
        if "kind" in cls.model_fields and (missing := sorted(cls.__abstractmethods__)):
            raise TypeError(f"{cls.__name__}: write `{missing[0]}`, as the other kinds have it")

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        if "kind" in cls.model_fields:
            return handler(source)
        return core_schema.no_info_plain_validator_function(cls.named)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        if "kind" in cls.model_fields:
            return super().__get_pydantic_json_schema__(schema, handler)
        return {"family": cls.family, "short": cls.short, "of": cls.__name__}

    @classmethod
    def named(cls, value: object) -> object:
        """Return a section as the kind that its ``kind`` names, imported where it is new."""
        value = cls.spelled_out(value)
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            raise PydanticCustomError("model_type", "must be a mapping")
        kind = value.get("kind")
        if "kind" not in value or (kind is None and cls.plugin_kind):
            raise PydanticCustomError("union_tag_not_found", "no kind")
        if not cls.plugin_kind:
            return cls._of_home(str(kind), value)
        facts = plugins.recorded(cls.plugin_kind, str(kind))
        if facts is not None and cls.of_record:
            return _imported(cls.of_record).model_validate(value | {"facts": facts})
        try:
            plugin = plugins.find(cls.plugin_kind, str(kind))
            section = plugin.load()
        except PluginError as error:
            if str(kind) in plugins.names(cls.plugin_kind) or ":" in str(kind):
                raise ValueError(str(error)) from None
            raise PydanticCustomError(
                "union_tag_invalid",
                "unknown kind",
                {"tag": kind, "hint": plugins.absent(cls.plugin_kind, str(kind), cls.kind_names())},
            ) from None
        if not (isinstance(section, type) and issubclass(section, cls)):
            message = f"{kind!r} is not a kind of {cls.family}"
            raise ValueError(f"{message}; {suggestion(kind, cls.kind_names())}")
        return section.model_validate(value)

    @classmethod
    def _of_home(cls, kind: str, value: dict[str, object]) -> object:
        """Return a section of a family without plug-ins."""
        if kind not in cls.homes:
            context = {"tag": kind, "hint": suggestion(kind, cls.homes)}
            raise PydanticCustomError("union_tag_invalid", "unknown kind", context)
        try:
            return _imported(cls.homes[kind]).model_validate(value)
        except ValidationError as error:
            from harness.kind_faults import tagged

            raise tagged(error, kind) from None

    @classmethod
    def kind_names(cls) -> list[str]:
        """Return the names of all kinds of the family that can be used, this package's first."""
        return [name for name, _ in cls.usable_kinds()]

    @classmethod
    def usable_kinds(cls) -> Iterator[tuple[str, type[Kind]]]:
        """Yield the kinds of the family that can be used, with their names."""
        for kind in cls.homes:
            yield kind, _imported(cls.homes[kind])
        for plugin, reason in plugins.declared(cls.plugin_kind) if cls.plugin_kind else ():
            if not reason and not (not plugin.is_builtin and plugins.problem(plugin)):
                section = plugin.load()
                if isinstance(section, type) and issubclass(section, cls):
                    yield plugin.name, section


def _imported(home: str) -> type[Kind]:
    """Import a kind by its ``module:class``."""
    module, _, name = home.partition(":")
    section: type[Kind] = getattr(import_module(module), name)
    return section
