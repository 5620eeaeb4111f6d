"""What a session or a notebook shows of data, of a best row, and of warnings."""

import subprocess
import sys
import warnings

import pandas as pd
import pytest
import surprise

import harness

DATA = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 500}}


def test_descriptions_are_shown_as_text():
    found = harness.describe(harness.load(DATA))
    assert repr(found) == str(found) == str(found[0])
    assert found == [found[0]]
    assert found._repr_html_() == f"<pre>{found[0].text()}</pre>"
    assert max(map(len, repr(found).splitlines())) <= 100


def test_loaded_data_are_described():
    frame = pd.DataFrame({"user": ["a", "b"], "item": ["x", "x"], "rating": [1.0, 2.0]})
    assert harness.describe(frame)[0].n_users == 2
    assert harness.describe(harness.load(frame).to_surprise())[0].n_ratings == 2


def test_the_best_row_is_shown_with_its_evidence():
    config = {"dataset": DATA, "algorithms": ["BaselineOnly"], "metrics": ["ndcg@10"]}
    best = harness.run(config, results=None).best()
    title, *evidence = repr(best).splitlines()
    assert title.startswith(f"<Best {best.row.algorithm}(")
    assert evidence == best.evidence
    assert f"<li>{evidence[0]}</li>" in best._repr_html_()
    assert "<script" not in best._replace(evidence=["<script>"])._repr_html_()


FILLED = [surprise.Prediction("a", item, 3.0, est, {}) for item, est in (("x", 4.5), ("y", 2.0))]


@pytest.mark.parametrize(
    "call",
    [
        lambda: harness.ndcg([(4.5, 3), (2.0, 3)]),
        lambda: harness.ndcg([3, 3], [4.5, 2.0]),
        lambda: harness.ndcg([(4.5, 300), (2.0, 100)]),
        lambda: harness.ndcg([(1, 4.5, 3), (2, 2.1, 4)]),
        lambda: harness.ndcg(FILLED),
    ],
)
def test_a_warning_points_at_the_line_of_the_caller(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
    assert {warning.lineno for warning in caught} == {call.__code__.co_firstlineno}


NOTEBOOK = """
import sys, types
import IPython
sys.modules["ipykernel.zmqshell"] = types.ModuleType("zmqshell")
sys.modules["ipywidgets"] = None
"""


def test_a_notebook_without_widgets_is_not_warned():
    loaded = "import tqdm.auto"
    said = subprocess.run(
        [sys.executable, "-c", f"{NOTEBOOK}\n{loaded}"], capture_output=True, text=True, check=True
    ).stderr
    assert "IProgress not found" in said  # where nothing is done against it
    own = "from harness._util.files import pooch; pooch()"
    said = subprocess.run(
        [sys.executable, "-c", f"{NOTEBOOK}\n{own}"], capture_output=True, text=True, check=True
    ).stderr
    assert said == ""
