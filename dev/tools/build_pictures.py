"""Draw the pictures of `docs/concepts.md` from what the code does.

python dev/tools/build_pictures.py          rewrite them
python dev/tools/build_pictures.py --check  exit 1 if a picture is not what would be drawn
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd

import harness
from harness import splits
from harness.config.load import load
from harness.datasets import Ratings

IMAGES = Path(__file__).parents[2] / "docs" / "images"
INK, GREY, PALE, TRAIN, TEST, NEITHER = (
    *("#1f2430", "#6b7280", "#eef0f4"),
    *("#3f6fb5", "#d9822b", "#c9ced8"),
)
USER = "668"
"""A test user of the bundled ratings with five test ratings, one of them high in the catalogue."""
N_SHOWN = 10
SPLITS: tuple[tuple[str, str, int], ...] = (
    ("{kind: holdout, test_size: 0.25}", "any rating can be in the test set", 0),
    ("{kind: kfold, n_splits: 4}", "the first of four folds", 0),
    ("{kind: kfold, n_splits: 4, within_users: true}", "each user's ratings in four folds", 0),
    ("{kind: repeated-kfold, n_splits: 4, n_repeats: 2}", "the first of eight folds", 0),
    ("{kind: item-fraction, fraction: 0.25}", "the same proportion of each item's ratings", 0),
    ("{kind: user-fraction, fraction: 0.25}", "the same proportion of each user's ratings", 0),
    ("{kind: leave-n-out, n: 1, choose: latest}", "each user's last rating", 0),
    ("{kind: user-holdout, users: 0.25, given: 3}", "some users; three ratings are training", 0),
    ("{kind: item-holdout, items: 0.25}", "all ratings of some items", 0),
    ("{kind: global-time, quantile: 0.75}", "everything after one moment", 0),
    ("{kind: rolling, origins: 3}", "the first of three moments, up to the next", 0),
    ("{kind: rolling, origins: 3}", "the last of three moments", 2),
)
"""Splits of a config, what they do, and which fold is drawn."""


class Picture:
    """An SVG of a fixed size, on a light ground so that it can be read on a dark page."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" font-family="Helvetica, Arial, '
            f'sans-serif" font-size="14">\n<title>{escape(title)}</title>'
        )
        self.parts = [f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>']

    def box(
        self, x: float, y: float, width: float, height: float, fill: str = PALE, line: str = "none"
    ) -> None:
        """Draw a rectangle with round corners."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" '
            f'fill="{fill}" stroke="{line}"/>'
        )

    def dot(self, x: float, y: float, fill: str) -> None:
        """Draw a rating."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{fill}"/>')

    def line(self, x: float, y: float, to_x: float, to_y: float, head: bool = False) -> None:
        """Draw a grey line, with the head of an arrow that points right or not."""
        self.parts.append(f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{GREY}" fill="none"/>')
        if head:
            self.parts.append(f'<path d="M{to_x:g} {to_y:g}l-7 -4v8z" fill="{GREY}"/>')

    def text(
        self, x: float, y: float, words: str, fill: str = INK, *, anchor: str = "start",
        bold: bool = False, size: int = 14, code: bool = False,
    ) -> None:  # fmt: skip
        """Write words from, around or up to a place."""
        kind = f' text-anchor="{anchor}"' * (anchor != "start")
        kind += ' font-weight="bold"' * bold + f' font-size="{size}"' * (size != 14)
        kind += ' font-family="Menlo, Consolas, monospace"' * code
        self.parts.append(f'<text x="{x:g}" y="{y:g}" fill="{fill}"{kind}>{escape(words)}</text>')

    def __str__(self) -> str:
        return "\n".join([self.head, *self.parts, "</svg>", ""])


def run_cell_row() -> Picture:
    """Draw one run: a config, its cells, and the rows of its table."""
    algorithms, folds = ("SVD", "KNNBasic", "Popularity"), 4
    picture = Picture(860, 330, "A run computes cells; each row of its table summarises some")
    picture.text(20, 34, "run", bold=True, size=18)
    picture.text(20, 56, "what one config describes", GREY)
    picture.box(20, 72, 210, 150)
    config = (
        "dataset: bundled",
        "split: {kind: kfold,",
        f"\u00a0 n_splits: {folds}}}",
        "algorithms: [SVD,",
        "\u00a0 KNNBasic, Popularity]",
        "metrics: [ndcg@10]",
    )
    for place, words in enumerate(config):
        picture.text(30, 96 + 22 * place, words, size=13, code=True)
    picture.line(236, 147, 268, 147, head=True)
    picture.text(280, 34, "cells", bold=True, size=18)
    picture.text(280, 56, "one fit of an algorithm on one training set, and its scores", GREY)
    for row, name in enumerate(algorithms):
        y = 100 + 46 * row
        picture.text(280, y + 22, name)
        for fold in range(folds):
            picture.box(370 + 64 * fold, y, 56, 34, "#dfe8f5", TRAIN)
        picture.line(370 + 64 * folds, y + 17, 664, y + 17, head=True)
        picture.box(672, y, 168, 34, "#fbead8", TEST)
        picture.text(682, y + 22, name)
        picture.text(830, y + 22, "mean ± sd", GREY, anchor="end", size=12)
    for fold in range(folds):
        picture.text(398 + 64 * fold, 92, f"fold {fold + 1}", GREY, anchor="middle", size=12)
    picture.text(672, 92, "rows of the table", bold=True)
    cells = len(algorithms) * folds
    told = f"{len(algorithms)} algorithms × {folds} folds = {cells} cells, {len(algorithms)} rows."
    picture.text(280, 266, told, bold=True)
    told = "Each cell is cached separately: a repeated run computes only the missing cells."
    picture.text(280, 290, told, GREY)
    return picture


def _user() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Return lists and test ratings of one user, and the scores, with three kinds of candidates."""
    config = {
        "name": "user",
        "dataset": "bundled",
        "candidates": ["rated", {"kind": "sampled", "n": N_SHOWN - 5}, "catalogue"],
        "algorithms": ["BaselineOnly"],
        "metrics": ["ndcg@5"],
        "baselines": False,
        "statistics": None,
        "outputs": {"lists": N_SHOWN, "estimates": True},  # names and ranks of what is drawn
    }
    with tempfile.TemporaryDirectory() as folder:
        run = harness.run(config, results=folder)
        kept = [
            pd.read_parquet(Path(folder) / "user" / f"{name}.parquet").query("user == @USER")
            for name in ("lists", "estimates")
        ]
    scores = run.users.query("user == @USER").set_index("candidates")["ndcg@5"]
    return kept[0], kept[1], scores


def candidates(lists: pd.DataFrame, estimates: pd.DataFrame, scores: pd.Series) -> Picture:
    """Draw one user's list with each kind of candidates: the same estimates, other items."""
    picture = Picture(860, 470, "One user's list with rated, sampled and catalogue candidates")
    said = {
        "rated": "the user's items of the test set",
        f"sampled {N_SHOWN - 5}": f"the same, and {N_SHOWN - 5} random items",
        "catalogue": "every item but training items",
    }
    ratings = estimates.drop_duplicates("item").set_index("item")["rating"]
    for place, (kind, words) in enumerate(said.items()):
        x = 20 + 280 * place
        of_kind = lists.query("candidates == @kind").sort_values("rank")
        ranks = estimates.query("candidates == @kind").set_index("item")["rank"]
        n_ranked = int(estimates.query("candidates == @kind")["n_ranked"].iloc[0])
        picture.text(x, 34, kind.split()[0], bold=True, size=18)
        picture.text(x, 56, words, GREY, size=13)
        for rank, item, estimate in of_kind[["rank", "item", "estimate"]].itertuples(index=False):
            y = 72 + 31 * (rank - 1)
            hit = item in ratings.index
            picture.box(x, y, 250, 26, "#fbead8" if hit else PALE, TEST if hit else "none")
            picture.text(x + 26, y + 18, f"{rank}", GREY, anchor="end", size=13)
            picture.text(x + 36, y + 18, f"item {item}", size=13)
            picture.text(x + 180, y + 18, f"{estimate:.2f}", GREY, anchor="end", size=13)
            if hit:
                stars = f"{ratings[item]:g} stars"
                picture.text(x + 242, y + 18, stars, anchor="end", size=13, bold=True)
        low = sorted(int(rank) for rank in ranks if rank > N_SHOWN)
        if low:
            picture.text(x, 400, "other test items at ranks", GREY, size=13)
            picture.text(
                x, 420, f"{', '.join(f'{rank:,}' for rank in low)} of {n_ranked:,}", size=13
            )
        picture.text(x, 452, f"ndcg@5 = {scores[kind]:.4f}", bold=True)
    return picture


def ndcg_by_hand(estimates: pd.DataFrame, scores: pd.Series) -> Picture:
    """Draw NDCG@5 of the same user's five rated items, step by step."""
    rated = estimates.query("candidates == 'rated'").sort_values("rank")
    order = [float(rating) for rating in rated["rating"]]
    ideal = sorted(order, reverse=True)
    picture = Picture(860, 400, "NDCG of five items by hand")
    totals = []
    for place, (title, ratings) in enumerate(
        (("in the order of the estimates", order), ("in the ideal order", ideal))
    ):
        x = 20 + 425 * place
        picture.text(x, 34, title, bold=True, size=16)
        heads = ("rank i", "rating", "gain 2^rating − 1", "log₂(i + 1)", "gain ÷ log")
        ends = (50, 105, 222, 308, 395)
        for end, head in zip(ends, heads, strict=True):
            picture.text(x + end, 64, head, GREY, anchor="end", size=12)
        total = 0.0
        for rank, rating in enumerate(ratings, 1):
            gain, discount = 2**rating - 1, math.log2(rank + 1)
            total += gain / discount
            y = 76 + 34 * (rank - 1)
            picture.box(x, y, 405, 28)
            cells = (f"{rank}", f"{rating:g}", f"{gain:g}", f"{discount:.4f}")
            for end, words in zip(ends, (*cells, f"{gain / discount:.4f}"), strict=True):
                picture.text(x + end, y + 19, words, anchor="end", size=13)
        totals.append(total)
        name = "DCG" if place == 0 else "ideal DCG"
        picture.text(x + 395, 270, f"{name} = {total:.4f}", anchor="end", bold=True)
    value = totals[0] / totals[1]
    if not math.isclose(value, scores["rated"], rel_tol=1e-12):
        raise SystemExit(f"by hand {value}, and the run has {scores['rated']}")
    picture.box(20, 300, 830, 76, "#dfe8f5", TRAIN)
    told = f"NDCG@5 = DCG ÷ ideal DCG = {totals[0]:.4f} ÷ {totals[1]:.4f} = {value:.4f}"
    picture.text(435, 332, told, anchor="middle", bold=True, size=17)
    told = "The table shows the mean of this number over all test users."
    picture.text(435, 358, told, GREY, anchor="middle")
    return picture


def _few_ratings() -> Ratings:
    """Return ratings of four users and twelve items, at different times."""
    rng = np.random.default_rng(4)
    users, items, times = [], [], []
    for user, (start, end) in enumerate(((0, 95), (3, 60), (30, 98), (48, 100))):
        users += [f"user {user + 1}"] * 8
        items += [f"item {item}" for item in rng.choice(12, 8, replace=False)]
        steps = np.linspace(start, end, 8) + rng.uniform(-2, 2, 8)
        times += [int(100 * time) for time in steps.clip(0, 100)]
    stars = rng.integers(1, 6, len(users)).astype(float)
    return Ratings.from_columns(users, items, stars, times, scale=(1, 5))


def timelines() -> Picture:
    """Draw what each split puts into training and test set, by user and time."""
    ratings = _few_ratings()
    columns, width, height = 3, 290, 170
    lines = -(-len(SPLITS) // columns)
    picture = Picture(columns * width + 10, lines * height + 50, "What each split tests, in time")
    for place, (fill, words) in enumerate(
        ((TRAIN, "training set"), (TEST, "test set"), (NEITHER, "neither"))
    ):
        picture.dot(30 + 130 * place, 25, fill)
        picture.text(42 + 130 * place, 30, words)
    picture.text(
        columns * width - 10, 30, "a dot is a rating, a line is a user", GREY, anchor="end"
    )
    for place, (section, words, fold) in enumerate(SPLITS):
        x, y = 20 + width * (place % columns), 50 + height * (place // columns)
        made = splits.make(_section(section), ratings, seed=2)[fold]
        picture.text(x, y + 16, section.strip("{}").removeprefix("kind: "), bold=True, size=12)
        picture.text(x, y + 34, words, GREY, size=12)
        for user in range(ratings.n_users):
            picture.line(x, y + 52 + 22 * user, x + 262, y + 52 + 22 * user)
        picture.line(x, y + 140, x + 262, y + 140, head=True)
        picture.text(x + 262, y + 155, "time", GREY, anchor="end", size=11)
        colours = np.full(len(ratings.users), NEITHER)
        colours[made.train], colours[made.test] = TRAIN, TEST
        for user, time, fill in zip(ratings.users, ratings.timestamps, colours, strict=True):
            picture.dot(x + 6 + time / 10_000 * 246, y + 52 + 22 * user, str(fill))
    return picture


def _section(text: str) -> splits.SplitSection:
    """Return a split as a config has it."""
    config = f"dataset: bundled\nalgorithms: [SVD]\nmetrics: [rmse]\nsplit: {text}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "split.yaml"
        path.write_text(config, encoding="utf-8")
        experiment, _ = load(path)
    return experiment.split[0]


def pictures() -> dict[str, Picture]:
    """Return the pictures by the names of their files."""
    lists, estimates, scores = _user()
    return {
        "concepts-run.svg": run_cell_row(),
        "concepts-candidates.svg": candidates(lists, estimates, scores),
        "concepts-ndcg.svg": ndcg_by_hand(estimates, scores),
        "concepts-splits.svg": timelines(),
    }


def main(arguments: Sequence[str], draw: Callable[[], dict[str, Picture]] = pictures) -> int:
    """Write the pictures, or say which are not current."""
    stale = 0
    for name, picture in draw().items():
        path = IMAGES / name
        if "--check" not in arguments:
            path.write_text(str(picture), encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != str(picture):
            stale = 1
            print(f"docs/images/{name} is not what would be drawn; run dev/tools/build_pictures.py")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
