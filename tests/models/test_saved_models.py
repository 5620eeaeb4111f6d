"""Models in one file: the same estimates to the last bit, and nothing that is not a model."""

import hashlib
import io
import json
import random
import subprocess
import sys
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.algorithms import registry
from harness.algorithms.compiled import matrix as matrix
from harness.algorithms.compiled import slope_one
from harness.errors import AlgorithmError

NAMES = [*registry.names("surprise"), *registry.names("baseline")]
ROWS = [
    (f"u{u}", i, float((u * u + 3 * i) % 9 / 2 + 1)) for u in range(9) for i in range(u % 4, 12)
]
PAIRS = [(u, i) for u, i, _ in ROWS] + [("u3", 99), ("nobody", 3), ("nobody", 99)]


@pytest.fixture(scope="module")
def data():
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
    return surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))


@pytest.mark.parametrize("by", ["harness", "surprise"])
@pytest.mark.parametrize("name", NAMES)
def test_a_model_comes_back_with_the_same_estimates_to_the_last_bit(name, by, data, tmp_path):
    model = registry.create(name, {}, seed=0)
    if by == "harness":
        harness.fit(model, data)
    else:
        model.fit(data.build_full_trainset())
    harness.save_model(model, tmp_path / "model.zip")
    again = harness.load_model(tmp_path / "model.zip")
    assert type(again) is type(model)
    if name == "NormalPredictor" and by == "surprise":
        assert again.sigma == model.sigma
    else:
        assert harness.estimate(again, PAIRS).tobytes() == harness.estimate(model, PAIRS).tobytes()
    if name != "NormalPredictor":
        assert [again.predict(*pair) for pair in PAIRS] == [model.predict(*pair) for pair in PAIRS]
    if name.startswith("KNN"):
        assert again.get_neighbors(0, k=3) == model.get_neighbors(0, k=3)
    harness.save_model(again, tmp_path / "again.zip")
    if by == "harness" and name != "NormalPredictor":  # whose generator has moved on
        assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "model.zip").read_bytes()


@pytest.mark.parametrize("seed", [None, 3, np.random.RandomState(3)], ids=["none", "int", "state"])
def test_a_single_rating_and_any_seed_are_enough(seed, tmp_path):
    frame = pd.DataFrame({"user": ["a"], "item": ["x"], "rating": [4.0]})
    data = harness.load(frame).to_surprise()
    model = harness.fit(surprise.SVD(random_state=seed), data)
    harness.save_model(model, tmp_path / "model.zip")
    again = harness.load_model(tmp_path / "model.zip")
    assert again.predict("a", "x").est == model.predict("a", "x").est


@pytest.mark.parametrize(
    "model",
    [
        surprise.SVD(n_factors=np.int64(3), n_epochs=0, biased=1),
        surprise.SVD(n_epochs=np.int64(2), biased=np.False_),
        surprise.KNNBasic(sim_options={"user_based": np.False_}),
        surprise.SVD(n_factors=0),
        surprise.KNNWithMeans(k=np.int32(2), min_k=0, verbose=1),
        surprise.KNNBaseline(sim_options={"note": 1}, bsl_options={"method": "als", "reg": 0.1}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_comes_back_whose_parameters_no_config_may_have(model, data, tmp_path):
    harness.save_model(harness.fit(model, data), tmp_path / "model.zip")
    again = harness.load_model(tmp_path / "model.zip")
    assert harness.estimate(again, PAIRS).tobytes() == harness.estimate(model, PAIRS).tobytes()


def test_another_process_reads_it(data, tmp_path):
    model = harness.fit(surprise.SVD(random_state=1), data)
    harness.save_model(model, tmp_path / "model.zip")
    code = (
        "import harness, sys; m = harness.load_model(sys.argv[1]);"
        "print(m.predict('u3', 5).est.hex())"
    )
    command = [sys.executable, "-c", code, tmp_path / "model.zip"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == float(model.predict("u3", 5).est).hex()


def test_a_matrix_that_is_never_held_is_computed_again(data, tmp_path, monkeypatch):
    monkeypatch.setattr(slope_one, "DENSE", 5)
    model = harness.fit(surprise.SlopeOne(), data)
    assert isinstance(model.dev, matrix.LazyMatrix)
    harness.save_model(model, tmp_path / "model.zip")
    again = harness.load_model(tmp_path / "model.zip")
    assert harness.estimate(again, PAIRS).tobytes() == harness.estimate(model, PAIRS).tobytes()


def test_what_cannot_be_saved_says_why(data, tmp_path):
    class Own(surprise.SVD):
        pass

    unsaved = r"Own: a model with your own class, .*; keep the config"
    with pytest.raises(AlgorithmError, match=unsaved):
        harness.save_model(harness.fit(Own(), data), tmp_path / "a.zip")
    with pytest.raises(AlgorithmError, match="not fitted; call"):
        harness.save_model(surprise.SVD(), tmp_path / "a.zip")
    model = harness.fit(surprise.SVD(), data)
    model.n_epochs = 1_000_001
    with pytest.raises(AlgorithmError, match="SVD: n_epochs is 1000001, of a type or size that"):
        harness.save_model(model, tmp_path / "a.zip")
    frame = pd.DataFrame({"u": [(1, 2), (3, 4)], "i": [1, 2], "r": [1.0, 2.0]})
    odd = surprise.Dataset.load_from_df(frame, surprise.Reader())
    with pytest.raises(AlgorithmError, match="id \\(1, 2\\): only ids that are text or numbers"):
        harness.save_model(harness.fit(surprise.SVD(), odd), tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


@pytest.fixture(scope="module")
def parts(data, tmp_path_factory):
    """The header and the arrays of saved models, by algorithm."""
    found = {}
    for name in ("SVD", "KNNBaseline", "CoClustering", "SlopeOne"):
        path = tmp_path_factory.mktemp("saved") / "model.zip"
        harness.save_model(harness.fit(registry.create(name, {}, seed=0), data), path)
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("model.json"))
            arrays = {
                each: np.load(io.BytesIO(archive.read(f"{each}.npy"))) for each in header["sha256"]
            }
        found[name] = header, arrays
    return found


def pack(path, header, arrays, **options):
    """Write a file whose checksums are right."""
    data = {}
    for name, array in arrays.items():
        file = io.BytesIO()
        np.save(file, array, allow_pickle=True)
        data[name] = file.getvalue()
    sums = {name: hashlib.sha256(each).hexdigest() for name, each in data.items()}
    content = json.dumps(header | {"sha256": sums}).encode()
    with zipfile.ZipFile(path, "w", **options) as archive:
        archive.comment = hashlib.sha256(content).hexdigest().encode()
        archive.writestr("model.json", content)
        for name, each in data.items():
            archive.writestr(f"{name}.npy", each)
    return path


def test_a_file_of_another_version_or_kind_is_refused_with_advice(parts, tmp_path):
    header, arrays = parts["SVD"]
    versions = header["versions"] | {"scikit-surprise": "1.0.6"}
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 no")
    for changed, options, message in (
        ({"versions": versions}, {}, r"saved with scikit-surprise 1\.0\.6, here is .*install"),
        ({"format": "harness-model-9"}, {}, "format 'harness-model-9', this version reads"),
        ({"algorithm": "os:system"}, {}, "which has no name here"),
        ({}, {"compression": zipfile.ZIP_DEFLATED}, "it is compressed"),
        ("none.zip", {}, r"cannot be read \(no such file"),
        ("a.zip", {}, "not a saved model, or damaged"),
    ):
        path = tmp_path / (changed if isinstance(changed, str) else "m.zip")
        if isinstance(changed, dict):
            pack(path, header | changed, arrays, **options)
        with pytest.raises(AlgorithmError, match=message):
            harness.load_model(path)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("SVD", {"n_epochs": 10**9}),
        ("KNNBaseline", {"bsl_options": {"dict": {"method": "als", "n_epochs": 10**9}}}),
    ],
)
def test_epochs_for_which_nobody_would_wait_are_refused(name, changed, parts, tmp_path):
    header, arrays = parts[name]
    path = pack(tmp_path / "m.zip", header, arrays)
    assert harness.load_model(path)
    attributes = {"attributes": header["attributes"] | changed}
    with pytest.raises(AlgorithmError, match=f"saved model: {next(iter(changed))} has another"):
        harness.load_model(pack(path, header | attributes, arrays))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("SVD", lambda h, a: (h | {"item_ids": [0, *h["item_ids"][:-1]]}, a), "occurs twice"),
        ("SVD", lambda h, a: (h | {"item_ids": [1.0, *h["item_ids"][1:]]}, a), "occurs twice"),
        ("SVD", lambda h, a: (h | {"user_ids": ["u0"] * 9}, a), "occurs twice"),
        ("KNNBaseline", lambda h, a: (changed_attribute(h, "k", -5), a), "k has another"),
        ("KNNBaseline", lambda h, a: (changed_attribute(h, "min_k", -1), a), "min_k has another"),
        ("CoClustering", lambda h, a: (changed_attribute(h, "n_epochs", -1), a), "n_epochs has"),
        ("SVD", lambda h, a: (h | {"scale": [1.0, 3.0]}, a), "outside the scale 1 to 3"),
        ("SVD", lambda h, a: (h | {"scale": [2.0, 5.0]}, a), "outside the scale 2 to 5"),
    ],
)
def test_a_sealed_file_with_what_no_model_has_is_refused(name, change, message, parts, tmp_path):
    with pytest.raises(AlgorithmError, match=message):
        harness.load_model(pack(tmp_path / "m.zip", *change(*parts[name])))


def changed_attribute(header, name, value):
    return header | {"attributes": header["attributes"] | {name: value}}


def test_ratings_that_were_kept_outside_the_scale_come_back(tmp_path):
    reader = surprise.Reader(rating_scale=(1, 4))
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
    model = harness.fit(
        surprise.BaselineOnly(verbose=False), surprise.Dataset.load_from_df(frame, reader)
    )
    harness.save_model(model, tmp_path / "model.zip")
    again = harness.load_model(tmp_path / "model.zip")
    assert harness.estimate(again, PAIRS).tobytes() == harness.estimate(model, PAIRS).tobytes()


def test_every_flipped_byte_is_found(data, tmp_path):
    path = tmp_path / "model.zip"
    harness.save_model(harness.fit(surprise.BaselineOnly(verbose=False), data), path)
    whole, rng = path.read_bytes(), random.Random(0)
    model = harness.load_model(path)
    n_refused = 0
    for _ in range(60):
        changed = bytearray(whole)
        changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        try:
            again = harness.load_model(path)
        except AlgorithmError:
            n_refused += 1
        else:  # a bit that means nothing, as of a date
            assert (
                harness.estimate(again, PAIRS).tobytes() == harness.estimate(model, PAIRS).tobytes()
            )
    assert n_refused > 30


@pytest.mark.parametrize("name", ["SVD", "KNNBaseline", "CoClustering", "SlopeOne"])
def test_arrays_of_another_type_or_shape_are_refused(name, parts, tmp_path):
    header, arrays = parts[name]
    for each, array in arrays.items():
        odd = [array.astype(np.float32), array.astype(object), array[..., :-1]]
        odd += [np.zeros((*array.shape, 2), array.dtype)]
        if array.dtype.kind == "i":
            odd += [array - 1, array + 1000, np.zeros_like(array) - 7]
        for changed in odd:
            counts = each in ("model.freq",) and changed.shape == array.shape
            if changed.dtype == array.dtype and (counts or array.ndim == 0):
                continue  # other counts are no fault that can be seen
            path = pack(tmp_path / "m.zip", header, arrays | {each: changed})
            with pytest.raises(AlgorithmError, match=r"m\.zip: "):
                harness.load_model(path)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["SVD", "KNNBaseline", "CoClustering"])
def test_a_changed_header_is_refused_or_harmless(name, parts, tmp_path):
    header, arrays = parts[name]
    odd = (None, -1, 0, 10**9, "x", [], {}, {"array": "model.bu"}, {"dict": {}}, [[1]], True)
    odd += ({"dict": {"n_epochs": 10**9}},)
    for section in (header, header["attributes"]):
        for key, before in section.items():
            for value in odd:
                section[key] = value
                path = pack(tmp_path / "m.zip", header, arrays)
                with suppress(AlgorithmError, ZeroDivisionError):
                    harness.estimate(harness.load_model(path), PAIRS[:5])
                section[key] = before
