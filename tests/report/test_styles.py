"""An algorithm has one colour, marker and line everywhere, distinct for any colour vision."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.font_manager import FontProperties, findfont

from harness.algorithms import registry
from harness.report.page import ASSETS
from harness.report.styles import COLOURS, algorithm_styles, plot_style, symbol
from harness.report.summary import summarise

PAPERS = ("#ffffff", "#15181c")
# Machado, Oliveira and Fernandes 2009, doi:10.1109/TVCG.2009.113, severity 1.
VISION = {
    "normal": "1 0 0  0 1 0  0 0 1",
    "protanopia": "0.152286 1.052583 -0.204868  0.114503 0.786281 0.099216"
    "  -0.003882 -0.048116 1.051998",
    "deuteranopia": "0.367322 0.860646 -0.227968  0.280085 0.672501 0.047413"
    "  -0.011820 0.042940 0.968881",
    "tritanopia": "1.255528 -0.076749 -0.178779  -0.078411 0.930809 0.147602"
    "  0.004733 0.691367 0.303900",
}
NAMED = [*registry.names("surprise"), *registry.names("baseline")]
LABEL = st.text("abcdef", min_size=1, max_size=6)


def linear(colour):
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    scaled = np.array(matrix) @ rgb / np.array([0.9505, 1.0, 1.089])
    root = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def test_every_algorithm_with_a_name_has_a_style_of_its_own():
    found = algorithm_styles(NAMED)
    shapes = {(style.hue, style.marker, style.filled) for style in found.values()}
    assert len(shapes) == len(set(found.values())) == len(found)


@given(st.lists(st.text(min_size=1, max_size=20), max_size=8, unique=True), LABEL)
def test_a_known_algorithm_looks_the_same_in_any_company_and_a_label_in_every_run(others, label):
    assert algorithm_styles([*others, "SVD"])["SVD"] == algorithm_styles(["SVD"])["SVD"]
    assert algorithm_styles([label]) == algorithm_styles([label])


@given(st.lists(LABEL, min_size=2, max_size=20, unique=True))
def test_labels_of_ones_own_do_not_share_a_style(labels):
    found = algorithm_styles([f"mine {label}" for label in labels])
    assert len(set(found.values())) == len(labels)


@given(
    st.lists(LABEL, min_size=1, max_size=20, unique=True),
    st.lists(st.sampled_from(NAMED), max_size=6, unique=True),
)
def test_every_row_has_a_colour_and_a_marker_of_its_own_beside_any_others(labels, known):
    rows = [*[f"mine {label}" for label in labels], *known]
    styles = algorithm_styles(rows)
    assert list(styles) == rows
    pairs = {(style.hue, style.marker, style.filled) for style in styles.values()}
    assert len(pairs) == len(rows)
    labelled = [styles[row] for row in rows[: len(labels)]]
    hues = {styles[row].hue for row in rows[len(labels) :]} - {"grey"}
    if len(labels) + len(hues) <= 6:  # colours are enough
        assert len({style.hue for style in labelled} | hues) == len(labels) + len(hues)
    if len(labels) <= 6 and not known:
        assert {style.line for style in labelled} == {"-"}
        assert len({style.marker for style in labelled}) == len(labels)


def test_settings_of_one_algorithm_do_not_look_like_it_or_like_each_other():
    rows = ["SVD", *[f"SVD {n}" for n in (10, 20, 50, 100, 200)]]
    styles = algorithm_styles(rows)
    assert len({style.hue for style in styles.values()}) == 6
    assert len({style.marker for style in styles.values()}) == 6


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_hues_stand_out_from_the_page_and_differ_for_every_colour_vision(scheme):
    assert f"--paper: {PAPERS[scheme]}" in (ASSETS / "page.css").read_text(encoding="utf-8")
    for hue, both in COLOURS.items():
        weights, pair = [0.2126, 0.7152, 0.0722], (both[scheme], PAPERS[scheme])
        low, high = sorted(linear(each) @ weights for each in pair)
        assert (high + 0.05) / (low + 0.05) >= 3, hue
    for vision, numbers in VISION.items():
        matrix = np.reshape(np.array(numbers.split(), float), (3, 3))
        seen = {h: lab(np.clip(matrix @ linear(each[scheme]), 0, 1)) for h, each in COLOURS.items()}
        for one, other in itertools.combinations(seen, 2):
            assert np.linalg.norm(seen[one] - seen[other]) > 10, (vision, one, other)


@pytest.mark.long
def test_table_and_plots_use_the_colour_of_the_algorithm(nasty, nasty_page):
    summary = summarise(nasty)
    for name in ("SVD", "SVD++", "BaselineOnly"):
        path = symbol(summary.styles[name])
        assert f'<path d="{path}" stroke="var(--{summary.styles[name].hue})"' in nasty_page
    assert summary.styles["SVD"] == algorithm_styles(["SVD"])["SVD"]


@pytest.mark.parametrize("name", [*NAMED, "one", "two", "three", "four", "five"])
def test_a_symbol_stays_in_its_box(name):
    path = symbol(algorithm_styles([name])[name])
    numbers = [float(each) for each in path.translate(str.maketrans("MLQCZ,", "      ")).split()]
    assert 0 < max(map(abs, numbers)) <= 1.0


def test_the_style_has_its_own_font_and_what_a_notebook_turns_on_outlasts_it():
    before = mpl.is_interactive()
    try:
        mpl.interactive(False)
        with plot_style():
            path = findfont(FontProperties(family=mpl.rcParams["font.family"]))
            mpl.interactive(True)
        assert mpl.is_interactive()
    finally:
        mpl.interactive(before)
    assert path.startswith(mpl.get_data_path())
