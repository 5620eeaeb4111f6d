"""Functions of Surprise that a script replaced by its own, which no accelerated call stands for.

What is set on one model, and what a subclass overrides, is seen where that model is used. Here are
functions that were replaced for everybody, before the patch or after it: methods of Surprise's own
classes, and functions of its modules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.algorithms import registry, surprise
from harness.extras.accelerate.calls import NotAccelerated

FUNCTIONS = (
    *((surprise.similarities, name) for name in ("cosine", "msd", "pearson", "pearson_baseline")),
    *(
        (surprise.prediction_algorithms.algo_base, name)
        for name in ("baseline_als", "baseline_sgd")
    ),
)
"""What fits call beside methods."""
MEASURES = ("rmse", "mse", "mae", "fcp")
Place = tuple[Any, str]
_before: set[Place] = set()
_functions: dict[Place, Any] = {}
_of_fits: dict[type, list[Place]] = {}
_of_tests: dict[type, list[Place]] = {}


def look(kinds: Iterable[type]) -> None:
    """Note which functions are not Surprise's own, before they are patched."""
    model = surprise.AlgoBase
    for kind in kinds:
        entry: Any = registry.entry_of(kind)
        _of_fits[kind] = [(kind, name) for name in entry.fit_methods] + [*FUNCTIONS]
        _of_tests[kind] = [(kind, name) for name in entry.score_methods] + [(model, "test")]
    places = {place for part in (_of_fits, _of_tests) for some in part.values() for place in some}
    places |= {(surprise.accuracy, name) for name in MEASURES}
    _functions.clear()
    _functions.update({place: getattr(*place) for place in places})
    _before.clear()
    _before.update(place for place in places if not is_of_surprise(_functions[place]))


def remember() -> None:
    """Note the functions as they are after they are patched."""
    for place in _functions:
        _functions[place] = getattr(*place)


def is_of_surprise(function: Any) -> bool:
    """Return whether a function that is not patched is Surprise's own."""
    module = str(getattr(function, "__module__", ""))
    return module.startswith("surprise.") and not hasattr(function, "__wrapped__")


def was_own(owner: Any, name: str) -> bool:
    """Return whether a function was Surprise's own when the patch was made."""
    return (owner, name) not in _before


def is_own(owner: Any, name: str) -> bool:
    """Return whether a function is Surprise's own, or what the patch put in its place."""
    return _first([(owner, name)]) is None


def predicts_as_surprise(kind: type) -> bool:
    """Return whether all that ``predict`` of a class of Surprise calls is its own."""
    return _first(_of_tests[kind], "predict", "test") is None


def require_own_fit(kind: type) -> None:
    """Refuse to fit where the fit of a class of Surprise would call another function."""
    _refuse(_first(_of_fits[kind], "fit"))


def require_own_test(kind: type) -> None:
    """Refuse to test where tests of a class of Surprise would call another function."""
    _refuse(_first(_of_tests[kind], "test"))


def require_own_functions() -> None:
    """Refuse to compute baselines or similarities where one of their functions is another."""
    _refuse(_first(FUNCTIONS))


def _first(places: Iterable[Place], *reached: str) -> Place | None:
    """Return the first function that is not Surprise's own.

    A function of the name of one that was reached may be what calls the patch.
    """
    for place in places:
        name = place[1]
        if place in _before or (name not in reached and getattr(*place) is not _functions[place]):
            return place
    return None


def _refuse(place: Place | None) -> None:
    if place is not None:
        owner, name = place
        where = owner.__name__.removeprefix("surprise.")
        raise NotAccelerated(f"{where}.{name} is not Surprise's own")
