"""Models of algorithms without Surprise in one file: no pickle, and no code without trust."""

import hashlib
import importlib
import io
import json
import os
import subprocess
import sys
import zipfile

import pytest

import harness
from harness.algorithms.own import as_model
from harness.errors import AlgorithmError
from harness.plugins import registry as plugins

MODULE = '''
import numpy as np

class Means:
    """Item means, with a state that has every kind of value."""

    def __init__(self, damping: float = 5.0, options=None, random_state=None):
        self.damping = damping

    def fit(self, train):
        counts = np.bincount(train.items, minlength=train.n_items)
        sums = np.bincount(train.items, train.ratings, train.n_items)
        self.means = sums / (counts + self.damping)
        parts = [1, 2.5, None, True, ("a", [np.arange(2)])]
        self.plain = {"title": "é", "parts": parts, "empty": [], "floats": [np.float32(0.1)]}
        self.plain |= {"a.b": np.zeros(1), "a": {"b": np.ones(1)}}
        self.count = np.int64(len(train.ratings))

    def estimate(self, users, items):
        return np.where(items >= 0, self.means[items], np.nan)

    def state(self):
        return {"means": self.means, "plain": self.plain, "count": self.count}

    def restore(self, state):
        self.means, self.plain, self.count = state["means"], state["plain"], state["count"]

class Forgetful(Means):
    state = restore = None

class Listed(Means):
    def state(self):
        return [self.means]

class Odd(Means):
    def state(self):
        return {"trees": [self]}

class Objects(Means):
    def state(self):
        return {"trees": np.array([self])}

class Sparse(Means):
    def state(self):
        import scipy.sparse
        return {"weights": scipy.sparse.csr_array(np.eye(2))}

class Keys(Means):
    def state(self):
        return {"by user": {3: 1.0}}

class Raises(Means):
    def state(self):
        raise ValueError("not yet")

class Strict(Means):
    def restore(self, state):
        raise LookupError("no longer")
'''
PAIRS = [("1", "31"), ("1", "1029"), ("2", "31"), ("1", "nothing"), ("nobody", "31")]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module of one's own, forgotten again after the test."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(name)
    sys.modules.pop(name, None)
    plugins.refresh()


@pytest.fixture(scope="module")
def data():
    return harness.load("bundled").to_surprise()


def fitted(kind, data, **params):
    return harness.fit(as_model(kind)(**params), data)


def test_a_model_comes_back_with_its_state_and_the_same_estimates(own, data, tmp_path):
    model = fitted(own.Means, data, damping=2.0, options={"a": [1, None]}, random_state=3)
    harness.save_model(model, tmp_path / "model.zip")
    again = harness.load_model(tmp_path / "model.zip", trust=True)
    assert type(again) is type(model)
    assert again.params == model.params
    assert (again.inner.damping, again.inner.count) == (2.0, model.inner.count)
    assert repr(again.inner.plain) == repr(model.inner.plain)
    assert [again.predict(*pair) for pair in PAIRS] == [model.predict(*pair) for pair in PAIRS]
    assert harness.estimate(again, PAIRS).tobytes() == harness.estimate(model, PAIRS).tobytes()
    assert harness.recommend(again, n=3).equals(harness.recommend(model, n=3))
    harness.save_model(again, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "model.zip").read_bytes()


def test_another_process_reads_it(own, data, tmp_path):
    model = fitted(own.Means, data)
    harness.save_model(model, tmp_path / "model.zip")
    code = (
        "import harness, sys; m = harness.load_model(sys.argv[1], trust=True);"
        "print(m.predict('1', '31').est.hex())"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "model.zip"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert completed.stdout.strip() == float(model.predict("1", "31").est).hex()


def test_code_from_elsewhere_is_not_imported_without_trust(own, data, tmp_path):
    harness.save_model(fitted(own.Means, data), tmp_path / "model.zip")
    name = own.__name__
    sys.modules.pop(name)
    with pytest.raises(AlgorithmError, match=rf"'{name}:Means', code of .*trust=True\) imports"):
        harness.load_model(tmp_path / "model.zip")
    assert name not in sys.modules


def test_a_plug_in_is_found_by_its_name(own, data, tmp_path):
    info = tmp_path / "item_means-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: item-means\nVersion: 1.2\n")
    entry_points = f"[harness.algorithms]\nitem-means = {own.__name__}:Means\n"
    (info / "entry_points.txt").write_text(entry_points)
    plugins.refresh()
    model = fitted(own.Means, data)
    harness.save_model(model, tmp_path / "model.zip")
    assert header_of(tmp_path / "model.zip")["algorithm"] == "item-means"
    with pytest.raises(AlgorithmError, match=r"'item-means', code of item-means 1\.2 and not"):
        harness.load_model(tmp_path / "model.zip")
    again = harness.load_model(tmp_path / "model.zip", trust=True)
    assert again.predict("1", "31") == model.predict("1", "31")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Forgetful", r":Forgetful: it has no `state\(\)` and `restore\(state\)`, and nothing"),
        ("Listed", r":Listed\.state returned an object of type list; return a dict"),
        ("Odd", r":Odd: state\.trees\.0 is a Odd, which cannot be saved; arrays of numbers"),
        ("Objects", r":Objects: state\.trees is a ndarray of objects, which cannot be saved"),
        ("Sparse", r":Sparse: state\.weights is a csr_array, which cannot be saved"),
        ("Keys", r":Keys: state\.by user has the key 3; use text"),
        ("Raises", r":Raises\.state failed \(ValueError: not yet\)"),
    ],
)
def test_what_cannot_be_saved_says_what_to_write(name, message, own, data, tmp_path):
    model = fitted(getattr(own, name), data)
    with pytest.raises(AlgorithmError, match=message):
        harness.save_model(model, tmp_path / "model.zip")
    assert not (tmp_path / "model.zip").exists()


def test_parameters_that_are_no_plain_values_are_refused(own, data, tmp_path):
    model = fitted(own.Means, data, options=print)
    with pytest.raises(AlgorithmError, match=r"params\.options is a builtin_function_or_method"):
        harness.save_model(model, tmp_path / "model.zip")


def test_a_class_of_a_function_is_refused_before_it_is_lost(own, data, tmp_path):
    class Local(own.Means):
        pass

    with pytest.raises(AlgorithmError, match="cannot be found again; move it to its own module"):
        harness.save_model(fitted(Local, data), tmp_path / "model.zip")
    with pytest.raises(AlgorithmError, match="not fitted; call"):
        harness.save_model(as_model(own.Means)(), tmp_path / "model.zip")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("class Means:", "class Gone:", "has no 'Means'"),
        ("def restore", "def restores", r"which has no `restore\(state\)` any more"),
        ("def estimate", "def estimates", "which has no `fit` and `estimate` of arrays"),
        ("damping: float", "rate: float", r"Means failed \(TypeError: .*'damping'"),
        ('state["means"]', 'state["mean"]', r"Means\.restore failed \(KeyError: 'mean'\)"),
    ],
)
def test_a_class_that_has_changed_says_how(before, after, message, own, data, tmp_path):
    path = tmp_path / "model.zip"
    harness.save_model(fitted(own.Means, data, damping=1.0), path)
    name, text = own.__name__, MODULE.partition("class Forgetful")[0]
    assert before in text
    sys.modules.pop(name)
    (tmp_path / f"{name}.py").write_text(
        text.replace(before, after).replace("self.damping = damping", "self.damping = 1.0")
        + "\n# another size\n",
        encoding="utf-8",
    )
    with pytest.raises(AlgorithmError, match=message):
        harness.load_model(path, trust=True)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": "os:system"}, "'os:system', which has no `fit` and `estimate`"),
        ({"algorithm": "no_such_module:X"}, "there is no module 'no_such_module'"),
        ({"algorithm": "SVD"}, "'SVD', which has no `fit` and `estimate` of arrays"),
        ({"algorithm": "nobody"}, "'nobody' is not among the algorithms"),
        ({"state": {}}, "not a saved model, or damaged"),
        ({"state": None}, "which has no name here"),
        ({"state": {"params": {"dict": {}}, "state": {"array": "none"}}}, "or damaged"),
    ],
)
def test_a_changed_file_is_refused(changes, message, own, data, tmp_path, reseal):
    path = tmp_path / "model.zip"
    harness.save_model(fitted(own.Means, data), path)
    reseal(path, changes)
    with pytest.raises(AlgorithmError, match=message):
        harness.load_model(path, trust=True)


def header_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("model.json"))


@pytest.fixture
def reseal():
    """Return what changes the header of a file and gives it the checksum that fits."""

    def change(path, changes):
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        parts["model.json"] = json.dumps(json.loads(parts["model.json"]) | changes).encode()
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.comment = hashlib.sha256(parts["model.json"]).hexdigest().encode()
            for name, content in parts.items():
                archive.writestr(name, content)
        path.write_bytes(file.getvalue())

    return change
