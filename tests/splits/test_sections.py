"""The keys of splits and filters: what they take, what they refuse, how they are named."""

import re
from datetime import date
from typing import Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from harness.config.yaml import parse
from harness.splits import FilterSection, SplitSection
from harness.splits.base import DrawnSplit
from harness.splits.random import OwnTraining

SPLITS = TypeAdapter(SplitSection)
FILTERS = TypeAdapter(FilterSection)


FILTER_KINDS = {*FilterSection.kind_names()}


def section_of(value):
    """Return the section of a mapping, or of YAML."""
    given = parse(f"value: {value}").data["value"] if isinstance(value, str) else value
    kind = given["kind"] if isinstance(given, dict) else given
    return (FILTERS if kind in FILTER_KINDS else SPLITS).validate_python(given)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("holdout", "holdout 20%"),
        ("{kind: holdout, test_size: 0.25}", "holdout 25%"),
        ("{kind: holdout, test_size: 1000, train_size: 0.5}", "holdout 1000, train 50%"),
        ("{kind: holdout, train_size: 0.75, like: sklearn}", "holdout, train 75%, as sklearn"),
        ("{kind: holdout, shuffle: false}", "holdout 20%, unshuffled"),
        ("kfold", "5-fold"),
        ("{kind: kfold, n_splits: 10, shuffle: false}", "10-fold, unshuffled"),
        ("repeated-kfold", "10 x 5-fold"),
        ("{kind: item-fraction, like: recommenders}", "item fraction 25%, as recommenders"),
        ("{kind: leave-n-out, choose: latest}", "leave-1-out latest"),
        (
            "{kind: leave-n-out, n_splits: 5, min_train: 2, like: surprise}",
            "leave-1-out random, 2 in training, 5 draws, as surprise",
        ),
        ("{kind: user-fraction, fraction: 0.1}", "user fraction 10% random"),
        ("global-time", "global time 0.8"),
        ("{kind: global-time, date: 1998-03-01}", "global time 1998-03-01"),
        ("rolling", "rolling 5 origins"),
        (
            "{kind: rolling, origins: [0.5, 1998-03-01], window: 90 days, horizon: 0.1}",
            "rolling 2 origins, window 90 days, horizon 10%",
        ),
        ("{kind: user-holdout, users: 50, given: 0}", "user holdout 50, given 0 random"),
        ("{kind: predefined, test: u1.test}", "predefined"),
        ("{kind: predefined, test: 'u{fold}.test', folds: [1, a]}", "predefined 2-fold"),
        ("{kind: predefined, file: a.csv}", "predefined by column fold"),
        ("{kind: file, path: splits/mine.parquet}", "file mine.parquet"),
        ("{kind: judgements, path: data/a.qrels}", "judgements a.qrels"),
        ("{kind: k-core, n: 5}", "5-core"),
        ("{kind: min-ratings-per-user, n: 20}", "at least 20 per user"),
        ("{kind: min-ratings-per-item, n: 3}", "at least 3 per item"),
        ("{kind: max-ratings-per-user, n: 3}", "at most 3 per user, random"),
        ("{kind: kfold, within_users: true}", "5-fold within users"),
        ("{kind: holdout, n_splits: 3}", "holdout 20%, 3 draws"),
        ("{kind: item-holdout}", "item holdout 20%"),
        ("{kind: global-time, last: 3 weeks}", "last 3 weeks"),
        ("{kind: leave-n-out, choose: latest, equal_times: item}", "leave-1-out latest by item"),
        (
            "{kind: time-window, start: 1998-01-01, end: 900000000}",
            "from 1998-01-01, before 900000000",
        ),
        ("{kind: sample-users, n: 0.1}", "sample of 10% of the users"),
        ("{kind: sample-users, n: 100}", "sample of 100 users"),
    ],
)
def test_a_section_has_a_short_name_and_survives_being_written_down(text, name):
    section = section_of(text)
    assert section.describe() == name
    assert section_of(section.model_dump()) == section
    assert section_of(section.model_dump_json()) == section


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{kind: holdout, test_size: 1.5}", "found 1.5; write a proportion between 0 and 1"),
        ("{kind: holdout, test_size: 0}", "found 0; write .* or a count of at least 1"),
        ("{kind: holdout, test_size: '0.2'}", "found '0.2'; write a proportion"),
        ("{kind: holdout, test_size: true}", "found True; write a proportion"),
        ("{kind: holdout, test_size: .nan}", "found nan; write a proportion"),
        ("{kind: holdout, test_size: null}", "neither `test_size` nor `train_size`; give"),
        ("{kind: holdout, test_size: 0.6, train_size: 0.6}", "more than the whole; make"),
        ("{kind: holdout, random_state: -1}", "greater than or equal to 0"),
        ("{kind: holdout, random_state: 4294967296}", "less than 4294967296"),
        ("{kind: holdout, stratify: true}", "Extra inputs are not permitted"),
        ("{kind: leave-n-out, n: 2, like: surprise}", "use n: 1 and choose: random"),
        ("{kind: leave-n-out, choose: latest, n_splits: 2}", "remove `n_splits`"),
        ("{kind: global-time, date: 1998-13-01}", "not a date; write it as 1998-01-31"),
        ("{kind: global-time, date: 1998-01-01, quantile: 0.5}", "keep one"),
        ("{kind: global-time, date: 1998-01-01, last: 3 weeks}", "both `date` and `last`; keep"),
        ("{kind: global-time, last: 0.2}", "found 0.2; write a number of seconds, .* as 90 days"),
        ("{kind: holdout, shuffle: false, n_splits: 2}", "remove `n_splits`"),
        ("{kind: user-fraction, equal_times: item}", "is for `choose: latest`; remove it"),
        ("{kind: rolling, origins: 0}", "greater than or equal to 1"),
        ("{kind: rolling, origins: []}", "at least 1 item"),
        ("{kind: rolling, origins: [1.5]}", "found 1.5; write a proportion .* or a date"),
        (
            "{kind: rolling, window: 90}",
            "found 90; write a proportion of the ratings, such as 0.2, or a num",
        ),
        ("{kind: rolling, horizon: 3 months}", "found '3 months'; write"),
        ("{kind: user-holdout, given: -1}", "found -1; write .* or a count of at least 0"),
        ("predefined", "needs either `test` .* or `file`"),
        ("{kind: predefined, test: a, file: b}", "needs either `test` .* or `file`"),
        ("{kind: predefined, test: a, folds: [1]}", "without `{fold}` in the paths"),
        ("{kind: predefined, test: 'a{fold}'}", "without `folds`; add folds"),
        ("{kind: predefined, test: 'a{fold}', folds: [1, '1']}", "named twice; remove one"),
        ("{kind: predefined, file: a, folds: [1]}", "remove `train` and `folds`"),
        (
            "{kind: kfold, validation: {kind: kfold, validation: kfold}}",
            "a validation set that has its own validation set; remove the inner one",
        ),
        ("{kind: time-window}", "neither `start` nor `end`; give one"),
        ("{kind: time-window, start: 5, end: 5}", "`start` 5 is not before `end` 5; swap"),
        ("{kind: k-core}", "Field required"),
        ("{kind: sample-users, n: 1.0}", "found 1.0; write a proportion between 0 and 1"),
    ],
)
def test_what_makes_no_split_or_filter_is_refused(text, message):
    with pytest.raises(ValidationError, match=message):
        section_of(text)


def test_a_date_from_python_is_kept_as_text():
    assert section_of({"kind": "global-time", "date": date(1998, 3, 1)}).date == "1998-03-01"


NEEDED = {
    "predefined": {"test": "u.test"},
    "file": {"path": "kept.parquet"},
    "training-share": {"share": 0.5},
    "judgements": {"path": "a.qrels"},
}
# What no key alone can say; other options are tried with every value here that they take.
TOGETHER = {
    "holdout": [
        {"test_size": None, "train_size": 0.6},
        {"shuffle": False, "train_size": 0.6},
        {"shuffle": False, "test_size": None, "train_size": 0.6},
    ],
    "leave-n-out": [{"choose": "latest", "equal_times": "item"}],
    "user-fraction": [{"choose": "latest", "equal_times": "item"}],
    "user-holdout": [{"choose": "latest", "equal_times": "item"}],
    "global-time": [{"last": "3 weeks"}],
    "rolling": [{"origins": [0.3, "1998-01-01"]}, {"window": "3 days"}, {"horizon": "1 week"}],
    "training-share": [{"by": "user"}, {"by": "time"}, {"of": {"kind": "kfold"}}],
    "predefined": [
        {"test": "{fold}.test", "folds": [1, 2]},
        {"test": None, "file": "folds.csv"},
        {"test": None, "file": "folds.csv", "column": "part"},
        {"train": "u.base", "in_training": "drop"},
    ],
}
FIXED = (
    "own-training", "predefined", "file", "global-time", "movielens-folds", "rolling",
    "judgements",
)  # fmt: skip
VALUES = [True, False, 0.3, 3, "1998-01-01", "u.base", "random", "latest", "train", "drop"]
VALUES += ["surprise", "sklearn", "recommenders", "ua"]


def options_of(section, base):
    """Yield every option that can be changed alone, with each value that is not its default."""
    for key, field in section.model_fields.items():
        for value in VALUES if key not in ("kind", "validation", "column") else []:
            try:
                section.model_validate(base | {key: value})
            except ValidationError:
                continue
            if field.default != value or isinstance(field.default, bool) != isinstance(value, bool):
                yield {key: value}


@pytest.mark.parametrize("section", [kind for _, kind in SplitSection.usable_kinds()])
def test_every_option_of_every_kind_of_split_changes_its_sentence(section):
    kind = section.model_fields["kind"].default
    base = {"kind": kind} | NEEDED.get(kind, {})
    changes = [*options_of(section, base), *TOGETHER.get(kind, [])]
    assert set().union(*changes) == set(section.model_fields) - {"kind", "validation"}
    changed = [section.model_validate(base | options) for options in changes]
    sentences = [section.model_validate(base).sentence(), *(each.sentence() for each in changed)]
    assert len(set(sentences)) == len(sentences)
    for sentence, options, made in zip(sentences[1:], changes, changed, strict=True):
        words = re.findall(r"[\w.{}-]+", sentence.replace("%", ""))
        words = {word.strip(".") for word in words}
        for key, value in options.items():
            if isinstance(value, float):
                assert f"{100 * value:g}" in words
            elif isinstance(value, str) and key not in ("like", "too_few", "in_training"):
                assert set(value.split()) <= words
        assert ("sampled at random" in sentence or "split at random" in sentence) == (
            made.model_dump().get("shuffle", True)
            and kind not in FIXED
            and (kind == "user-holdout" or options.get("choose") != "latest")
        )
    assert "validation set" in section.model_validate(base).sentence("validation set")


@pytest.mark.parametrize("missing", ["draw", "describe", "sentence"])
def test_a_kind_that_lacks_a_method_is_refused(missing):
    present = {"draw", "describe", "sentence"} - {missing}
    body = {name: getattr(OwnTraining, name) for name in present}
    body |= {"kind": "mute", "__annotations__": {"kind": Literal["mute"]}}
    with pytest.raises(TypeError, match=f"Mute: write `{missing}`, as the other kinds have it"):
        type(DrawnSplit)("Mute", (DrawnSplit,), body)
