"""Base classes of the parts of a config, the quantities and the search spaces that they hold."""

from __future__ import annotations

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Set
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, get_args

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    Tag,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import (
    CoreSchema,
    ErrorDetails,
    InitErrorDetails,
    PydanticCustomError,
    core_schema,
)

from harness._util import names
from harness.errors import DataError, PluginError, suggestion
from harness.plugins import registry as plugins

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of a config to a value."""
PATHS = frozenset({"path", "test", "train", "file"})
"""Keys of data sets and splits that name files."""
MOST_SECONDS = 31_536_000.0
"""A year: the longest time limit."""


class Section(BaseModel):
    """A part of a config: validation, schema, reference page and help come from its fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    short: ClassVar[str] = ""
    """The key that a plain string in place of the section is the value of; empty for none."""
    added: ClassVar[Set[str]] = frozenset()
    """Keys that came after identities were first written: a default of theirs is in none."""
    guessed: ClassVar[names.Kind | None] = None
    """The section of ``names.toml`` with words that people use in place of its keys."""

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
    plug-ins, or come from its `homes`.
    """

    short = "kind"
    plugin_kind: ClassVar[str] = ""
    """The kind of plug-in that the kinds are; empty if no plug-in can add one."""
    homes: ClassVar[Mapping[str, str]] = {}
    """By kind, ``module:class`` of the kinds of a family without plug-ins."""
    family: ClassVar[str] = ""
    """What messages call the kinds."""
    example: ClassVar[Mapping[str, object]] = {}
    """Keys of a section with which the kind is tried, where not all keys have defaults."""
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
        if not isinstance(value, dict):
            if isinstance(value, cls):
                return value
            raise PydanticCustomError("model_type", "must be a mapping")
        kind = value.get("kind")
        if "kind" not in value or (kind is None and cls.plugin_kind):
            raise PydanticCustomError("union_tag_not_found", "no kind")
        if not cls.plugin_kind:
            return cls._of_home(str(kind), value)
        if cls.of_record and (facts := plugins.recorded(cls.plugin_kind, str(kind))) is not None:
            return _imported(cls.of_record).model_validate(value | {"facts": facts})
        try:
            section = plugins.find(cls.plugin_kind, str(kind)).load()
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
            if not reason and (plugin.is_spine or not plugins.problem(plugin)):
                section = plugin.load()
                if isinstance(section, type) and issubclass(section, cls):
                    yield plugin.name, section


def _imported(home: str) -> type[Kind]:
    """Import a kind by its ``module:class``."""
    module, _, name = home.partition(":")
    section: type[Kind] = getattr(import_module(module), name)
    return section


def located(data: object, location: KeyPath) -> KeyPath:
    """Return a location in data without tags of unions and the index of a lone value."""
    path: KeyPath = ()
    for part in location:
        inner = dict(enumerate(data)) if isinstance(data, list) else data
        if isinstance(inner, dict) and part in inner:
            path, data = (*path, part), inner[part]
    return path


def brief(value: object) -> str:
    """Return a value in one line of a message."""
    text = repr(value)
    if "\n" in text:  # as of a DataFrame
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def dotted(path: KeyPath) -> str:
    """Return a key path as a person writes it."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


WORDS = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "tuple": "a list",
}
"""What messages call the types of Pydantic."""


S = TypeVar("S", bound=Section)


def validated(section: type[S], data: object, where: str, context: object = None) -> S:
    """Return a section of plain data that belong to no config, or raise a DataError."""
    try:
        return section.model_validate(plain_data(data), context=context)
    except ValidationError as error:
        lines = []
        for fault in error.errors():
            missing = fault["loc"][-1:] if fault["type"] == "missing" else ()
            path = dotted((*located(data, fault["loc"]), *missing))
            lines.append(": ".join(filter(None, (where, path, explained(fault, section, data)))))
        raise DataError("\n".join(dict.fromkeys(lines))) from None
    except RecursionError:  # as of a mapping that contains itself
        raise DataError(f"{where}: nested too deeply; flatten it") from None


def _known_key(top: type[Section], location: KeyPath, data: object) -> str:
    """Return the end of a message about an unknown key: which one to write in its place."""
    inside = sections_at(top, location[:-1])
    stated = _stated_kind(data, location)
    inside = [section for section in inside if _kind(section) == stated] or inside
    keys = {key for section in inside for key in section.model_fields}
    guessed = next((section.guessed for section in inside if section.guessed), None)
    return names.advice(guessed, location[-1], keys, None)


def explained(error: ErrorDetails, top: type[Section], data: object) -> str:
    """Return what one entry of ``ValidationError.errors()`` of a section found, and what to do.

    `data` are the section's.
    """
    kind, value, location = error["type"], error["input"], error["loc"]
    context = error.get("ctx", {})
    if isinstance(value, dict | list):
        shown = "a mapping" if isinstance(value, dict) else f"a list of {len(value)}"
    else:
        shown = brief(value)
    match kind:
        case "extra_forbidden":
            return f"unknown key; {_known_key(top, location, data)}"
        case "missing":
            return "missing; add it"
        case "union_tag_not_found":
            kinds = [_kind(section) or "" for section in sections_at(top, location)]
            return f"no `kind` given; {suggestion('', kinds)}"
        case "union_tag_invalid":
            tag = context["tag"]
            hint = context.get("hint") or suggestion(tag, _quoted(context["expected_tags"]))
            return f"unknown kind {tag!r}; {hint}"
        case "literal_error":
            said = "empty" if value is None else f"found {shown}"
            return f"{said}; {suggestion(value, _quoted(context['expected']))}"
        case "value_error":
            return str(context["error"])
        case "string_pattern_mismatch":
            allowed = "letters from a to z, digits, '.', '_' and '-', a letter or digit first"
            return f"found {shown}; use up to 80 {allowed}"
        case "too_short":
            return "empty; name at least one"
        case _ if value is None:
            return "empty; write a value"
        case "list_type":
            bare = ", ".join(map(str, value)) if isinstance(value, tuple) else shown.strip("'")
            entry = "{…}" if isinstance(value, dict) or "\n" in repr(value) else bare
            return f"found {shown}; write a list: [{entry}]"
        case "model_type" | "model_attributes_type" | "dict_type":
            short = "" if kind == "dict_type" else sections_at(top, location)[0].short
            alone = f", or only its `{short}`" if short else ""
            return f"found {shown}; it must be a mapping of keys to values{alone}"
        case "string_type" if not isinstance(value, dict | list):
            return f"found {shown}; {_as_text(value)}"
    expected = re.sub("^[A-Z][a-z]+ should ", "", error["msg"])
    for word, plain in WORDS.items():
        expected = expected.replace(f"a valid {word}", plain)
    return f"found {shown}; it must {expected}"


def _as_text(value: object) -> str:
    """Return how something that is not text is written as text; a function by its name."""
    name, module = getattr(value, "__name__", None), getattr(value, "__module__", None)
    if callable(value) and name and module:
        return f"name it as text: '{module}:{name}'"
    return "it must be text: put it in quotation marks"


def _stated_kind(data: object, location: KeyPath) -> object:
    """Return the `kind` beside a key in data; None where there is none."""
    for part in located(data, location)[:-1]:
        data = dict(enumerate(data)) if isinstance(data, list) else data
        data = data[part] if isinstance(data, dict) else None
    return data.get("kind") if isinstance(data, dict) else None


def _quoted(text: str) -> list[str]:
    """Return the words that a message of Pydantic lists in quotation marks."""
    return re.findall(r"'([^']*)'", text)


def sections_at(top: type[Section], location: KeyPath) -> list[type[Section]]:
    """Return the sections that are possible at a location, or around it if none is."""
    sections = [top]
    for part in location:
        fields = [
            section.model_fields[part] for section in sections if part in section.model_fields
        ]
        inner = [section for field in fields for section in _sections(field.annotation)]
        sections = inner or [section for section in sections if _kind(section) == part] or sections
    return sections


def _kind(section: type[Section]) -> str | None:
    return section.model_fields["kind"].default if "kind" in section.model_fields else None


def _sections(annotation: object) -> list[type[Section]]:
    """Return every section that an annotation may hold, through lists, unions and Annotated."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        if issubclass(annotation, Kind) and _kind(annotation) is None:
            return [section for _, section in annotation.usable_kinds()]
        return [annotation]
    return [section for part in get_args(annotation) for section in _sections(part)]


def tagged(error: ValidationError, kind: str) -> ValidationError:
    """Return an error of a section with its kind in each location, as unions of Pydantic have it.

    The finding is then explained by the keys of that kind, and not of all.
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


MOST_RATINGS = 2**40
"""More than any data set has."""
MOST_EXACT = 2**53
"""Whole numbers up to here are exact as floating-point numbers."""


def written(size: float | str) -> str:
    """Return a share as a percentage, a count or a span as it is."""
    return f"{100 * size:.10g}%" if isinstance(size, float) else str(size)


def is_share(value: object) -> bool:
    """Return whether a value is a number between 0 and 1."""
    return isinstance(value, float) and 0 < value < 1


def _check_size(size: object, smallest: int = 1) -> object:
    if is_share(size) or (type(size) is int and smallest <= size < MOST_RATINGS):
        return size
    counts = f"a count of at least {smallest}, such as 10"
    expected = f"a proportion between 0 and 1, such as 0.2, or {counts}"
    raise ValueError(f"found {size!r}; write {expected}")


Count = Annotated[int, Field(ge=1)]
"""One or more."""
Folds = Annotated[int, Field(ge=1, le=10_000)]
"""A number of folds or repetitions; each is a fit."""
Share = Annotated[float, Field(gt=0, lt=1)]
"""Strictly between 0 and 1."""
Size = Annotated[int | float, BeforeValidator(_check_size, json_schema_input_type=Count | Share)]
"""A share, or a count; the decimal point makes it a share."""
SizeOrZero = Annotated[
    int | float,
    BeforeValidator(
        lambda size: _check_size(size, 0),
        json_schema_input_type=Annotated[int, Field(ge=0)] | Share,
    ),
]
"""A size that may be 0."""
State = Annotated[int, Field(ge=0, lt=2**32)]
"""A seed that every generator of NumPy takes."""


class Range(Section):
    """Numbers from `low` to `high`, whole ones when both ends are whole."""

    low: int | float
    """The least value."""
    high: int | float
    """The greatest value."""
    log: bool = False
    """Whether the logarithms of values are uniform."""
    points: int = Field(default=4, ge=2, le=100)
    """How many evenly spread values a grid takes from the range."""

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        for end in (self.low, self.high):
            if not -MOST_EXACT <= end <= MOST_EXACT:  # NaN is not either
                raise ValueError(f"{end} is too large or not a number; give a finite range")
        if not self.low < self.high:
            raise ValueError(f"[{self.low}, {self.high}] is empty; give low below high")
        if self.log and self.low <= 0:
            raise ValueError(f"low is {self.low}; a logarithmic range starts above 0")
        return self

    def end(self, value: float) -> str:
        """Return ``low`` or ``high`` where a value is in the outer tenth there or beyond, else ''.

        Examples
        --------
        >>> Range(low=1.0, high=100.0, log=True).end(70.0), Range(low=1, high=100).end(70)
        ('high', '')
        """
        scale = math.log if self.log else float
        low, high = scale(self.low), scale(self.high)
        share = (scale(max(value, self.low)) - low) / (high - low)
        return "low" if share <= 0.1 else "high" if share >= 0.9 else ""

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are drawn."""
        return isinstance(self.low, int) and isinstance(self.high, int)


def log_range(low: float, high: float) -> Range:
    """Return a range whose logarithms are uniform."""
    return Range(low=low, high=high, log=True)


def _form(values: object) -> str:
    return "range" if isinstance(values, dict | Range) else "choices"


Choices = Annotated[list[bool | int | float | str | None], Field(min_length=1), Tag("choices")]
SearchSpace = dict[str, Annotated[Choices | Annotated[Range, Tag("range")], Discriminator(_form)]]
"""By parameter, options of options with a dot, such as `sim_options.name`."""
_SPACE: TypeAdapter[SearchSpace] = TypeAdapter(SearchSpace)


def nested_options(search: Mapping[object, object]) -> dict[object, object]:
    """Let `sim_options: {name: [msd, cosine]}` stand for `sim_options.name: [msd, cosine]`."""
    flat: dict[object, object] = {}
    for name, values in search.items():
        if isinstance(values, dict) and str(name).endswith("_options"):
            flat |= {f"{name}.{key}": inner for key, inner in values.items()}
        else:
            flat[name] = values
    return flat


def search_space(declared: object) -> SearchSpace:
    """Return a space that Python code declares as a config would hold it.

    Tuples and NumPy's arrays and numbers are taken too.

    Raises
    ------
    ValueError
        With what is wrong with the first parameter that cannot be searched.

    Examples
    --------
    >>> search_space({"damping": {"low": 0.5, "high": 50.0}, "k": (10, 20)})["k"]
    [10, 20]
    >>> search_space({"damping": 5})
    Traceback (most recent call last):
    ValueError: damping: found 5
    """
    if not isinstance(declared, Mapping):
        raise ValueError(f"found {declared!r}")
    plain = {
        name: [*values] if isinstance(values, tuple) else values
        for name, values in nested_options(declared).items()
    }
    for name, values in plain.items():
        if not isinstance(values, Range):
            plain[name] = plain_data(values)
    try:
        return _SPACE.validate_python(plain)
    except ValidationError as error:
        fault = error.errors()[0]
        name, *inner = (part for part in fault["loc"] if part not in ("range", "choices"))
        said = fault["msg"].removeprefix("Value error, ")
        if not inner and not isinstance(plain.get(name), dict):
            said = f"found {plain.get(name)!r}"
        raise ValueError(": ".join([*map(str, (name, *inner)), said])) from None
