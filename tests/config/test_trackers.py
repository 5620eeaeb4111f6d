"""What a tracker is: its parameters are checked, and its rows have every number by name."""

import pytest

from harness import Tracker
from harness.config.trackers import TrackedRow, parameter_faults, tracker_class
from harness.errors import PluginError

ROW = TrackedRow(
    run="mine",
    title="SVD",
    algorithm="SVD",
    dataset="data",
    split="holdout 20%",
    candidates="rated",
    params={"k": 2},
    metrics={"ndcg@10": 0.5, "rmse": 1.0},
    intervals={"ndcg@10": (0.4, 0.6)},
    fit_seconds=0.5,
    score_seconds=None,
    metric_seconds=None,
    peak_mb=7.0,
    n_users=3,
    error="",
)


class Demanding(Tracker):
    """It has a parameter without a default."""

    def __init__(self, place: str, size: int = 3, *, strict: bool = False) -> None:
        self.place = place


class Open(Tracker):
    """It takes any parameters."""

    def __init__(self, **params: object) -> None:
        self.params = params


def test_a_row_has_its_numbers_by_name():
    assert ROW.values == {
        "ndcg@10": 0.5,
        "ndcg@10_low": 0.4,
        "ndcg@10_high": 0.6,
        "rmse": 1.0,
        "fit_seconds": 0.5,
        "peak_mb": 7.0,
        "n_users": 3,
    }


@pytest.mark.parametrize(
    ("params", "faults"),
    [
        ({"place": "a"}, []),
        ({}, [("", "needs the parameter 'place'; add it")]),
        ({"place": "a", "sise": 1}, [("sise", "has no such parameter; did you mean 'size'?")]),
        ({"place": 7, "strict": 1}, [("place", "give text"), ("strict", "give True or False")]),
    ],
)
def test_parameters_are_those_of_the_constructor(params, faults):
    found = [*parameter_faults(f"{__name__}:Demanding", params)]
    assert [place for place, _ in found] == [place for place, _ in faults]
    for (_, message), (_, said) in zip(found, faults, strict=True):
        assert said in message


def test_any_parameters_may_be_taken():
    assert not [*parameter_faults(f"{__name__}:Open", {"anything": 1})]


def test_what_is_no_tracker_is_refused():
    with pytest.raises(PluginError, match=r"not a subclass of harness.Tracker"):
        tracker_class("pathlib:Path")
