"""An algorithm in a config."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from harness.quantities import SearchSpace, nested_options
from harness.sections import Section


def _named_in_either_way(schema: dict[str, Any]) -> None:
    schema["required"] = [key for key in schema["required"] if key != "name"]
    schema["anyOf"] = [{"required": ["name"]}, {"required": ["library", "model"]}]


class AlgorithmConfig(Section):
    """An algorithm of Surprise, a baseline, a class of your own, or another library's model."""

    model_config = ConfigDict(json_schema_extra=_named_in_either_way)

    short = "name"

    name: str = Field(min_length=1)
    """A name from `harness list algorithms`, or `package.module:Class` for your own subclass of
    AlgoBase, which is imported and run."""
    library: str | None = None
    """With `model`, in place of a name: another library, as `cornac`; see `harness list
    libraries`. It is installed into an environment of its own at the first use."""
    model: str | None = None
    """The library's model, as `MF`."""
    python: str | None = None
    """An interpreter that has the library, in place of an environment of its own; it is started."""
    label: str | None = Field(default=None, min_length=1, max_length=80)
    """Name of the row in the table; by default the algorithm's name. Labels must differ."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the constructor, `sim_options` and `bsl_options` included."""
    depends: list[Annotated[str, Field(min_length=1)]] = Field(default=[])
    """Files that your own class opens in compiled code, for example HDF5: paths, folders or
    patterns such as `data/*.h5`, relative to the config's folder. If one changes, the cells of the
    row are computed again. Other files that it reads are recorded."""
    as_surprise: bool = False
    """Reproduce Surprise where it truncates fractional ratings (SlopeOne, CoClustering)."""

    search: (
        Annotated[
            Annotated[Literal["recommended"], Tag("word")] | Annotated[SearchSpace, Tag("space")],
            Discriminator(lambda value: "space" if isinstance(value, dict) else "word"),
        ]
        | None
    ) = None
    """Parameters to tune: `recommended`, or a space for each; see `tuning` for the budget."""

    @model_validator(mode="before")
    @classmethod
    def _named_by_library(cls, data: object) -> object:
        keys = ("library", "model", "python")
        if not isinstance(data, dict) or all(data.get(key) is None for key in keys):
            return data
        if not (isinstance(data.get("library"), str) and isinstance(data.get("model"), str)):
            raise ValueError(
                "`library`, `model` and `python` belong together; give library and model"
            )
        if "name" in data:
            raise ValueError("both `name` and `library`; keep one")
        rest = {key: data[key] for key in data if key not in keys}
        if data.get("python") is not None:
            rest["params"] = {**rest.get("params", {}), "python": data["python"]}
        return {**rest, "name": f"{data['library']}/{data['model']}"}

    @model_validator(mode="before")
    @classmethod
    def _nested_grids(cls, data: object) -> object:
        """Let `sim_options: {name: [msd, cosine]}` stand for `sim_options.name: [msd, cosine]`."""
        if not isinstance(data, dict) or not isinstance(data.get("search"), dict):
            return data
        return {**data, "search": nested_options(data["search"])}

    @property
    def title(self) -> str:
        """The label, or the name where there is none."""
        return self.label or self.name


AlgorithmSection = Annotated[
    AlgorithmConfig,
    BeforeValidator(AlgorithmConfig.spelled_out, json_schema_input_type=str | AlgorithmConfig),
]
"""An algorithm's name, or a mapping with parameters."""
