"""Commands that use the model of a row: its config, its recommendations, the model itself."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

import harness
from harness.cli import options
from harness.cli.screen import say
from harness.errors import DataError, HarnessError, ResultsError, counted, listed, reason_of
from harness.lazy import pa, pd, pq

if TYPE_CHECKING:
    from harness.algorithms.trainset import ColumnTrainset
    from harness.recommendations import Seen
    from harness.results.runs import Run

CONFIG_ENDINGS = (".yaml", ".yml")
SAY_SECONDS = 5.0
"""Seconds between two lines that say how far a stage is."""
FEW = 5
"""Users that a message names."""
FORMATS = ("csv", "parquet", "jsonl", "trec")


def _of_a_table(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that choose a row of a run."""
    for name, text in (
        ("--candidates", "Choose the table with these candidates."),
        ("--split", "Choose the table with this split."),
        ("--dataset", "Choose the table of this data set."),
        ("--metric", "Best by this metric; by default the headline metric of the run."),
        ("--algorithm", "A row by its name, in place of the best one."),
    ):
        command = click.option(name, metavar="NAME", help=text)(command)
    return options.results(command)


@click.command()
@click.argument("run", metavar="RUN")
@_of_a_table
@click.option(
    "-o", "--output", type=options.output, help="A file for the config; by default it is printed."
)
@options.force
def best(run: str, results: Path, output: Path | None, **wanted: str | None) -> int:
    """Write the best row of a run as a config that runs.

    The config has the row's parameters, found by its search if there was one; comments give the
    evidence: value and interval, rows that are not significantly different, seconds.
    """
    from harness.files import write_output

    (opened,) = options.opened((run,), results)
    found = harness.best(opened, **wanted)
    text = found.to_yaml(output.parent if output else ".")
    if output is None:
        say(text.rstrip(), whole=True)
        return 0
    write_output(output, text)
    for sentence in found.evidence:
        say(sentence)
    config = shlex.quote(str(output))
    say(f"written to {output}; use it with `harness run {config}` or `harness recommend {config}`")
    return 0


@click.command()
@click.argument("source", metavar="CONFIG|RUN")
@_of_a_table
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="Items a user.")
@click.option(
    "--users", type=options.file, help="A file with one user a line; by default all users."
)
@options.formats(*FORMATS, help="By default what --output ends with; parquet needs --output.")
@click.option(
    "-o", "--output", type=options.output, help="A file; by default the lists are printed."
)
@click.option(
    "--seen",
    type=options.Choice(("leave-out", "keep")),
    default="leave-out",
    show_default=True,
    help="Whether items that the user has rated are left out.",
)
@click.option("--least", type=float, help="The least estimate of an item in a list.")
@options.force
def recommend(
    source: str,
    results: Path,
    top: int,
    users: Path | None,
    form: str,
    output: Path | None,
    seen: Seen,
    least: float | None,
    **wanted: str | None,
) -> int:
    """Fit one row on all ratings and write the best items of each user.

    Of a run, the best row with its parameters; of a config, its only algorithm; --algorithm names
    another. Every item is a candidate, less those that the user has rated. Estimates are clipped
    unless the config has `clip: false`.
    """
    from harness.algorithms.models import not_ratings
    from harness.files import open_output

    ending = "" if output is None else output.suffix.removeprefix(".").lower()
    form = ending if ending in FORMATS and not options.given("form") else form
    if form == "parquet" and output is None:
        raise HarnessError("--format parquet: it cannot be printed; give a file with --output")
    names = [] if users is None else _users_in(users)

    def check(trainset: ColumnTrainset) -> None:
        if unknown := [user for user in names if user not in trainset._raw2inner_id_users]:
            have = "has" if len(unknown) == 1 else "have"
            raise DataError(
                f"{users}: {len(unknown)} of {counted(len(names), 'user')} {have} no ratings "
                f"({_few(unknown)}); remove them, or recommend to them in Python with "
                "harness.fold_in"
            )

    model, clip = _fitted(source, results, wanted, check)
    left = dict.fromkeys(names or map(str, model.trainset._raw2inner_id_users))  # without a list
    blocks = harness.recommend_in_blocks(
        model, n=top, users=names or None, seen=seen, least=least, clip=clip
    )
    target: AbstractContextManager[IO[bytes]] = (
        nullcontext(sys.stdout.buffer) if output is None else open_output(output)
    )
    n_lists = len(left)
    with target as file:
        n_items = _write(file, form, _reported(blocks, left))
    sys.stdout.flush()
    place = f" to {output}" if output else ""
    lists = f"{counted(n_items, 'recommendation')} for {counted(n_lists - len(left), 'user')}"
    say(f"{lists}{place}", err=True)
    if left:
        say(f"note: no item is left for {counted(len(left), 'user')}: {_few(left)}", err=True)
    if meaning := not_ratings(model):
        say(f"note: {type(model).__name__}: an estimate is no rating, but {meaning}", err=True)
    return 0


@click.command()
@click.argument("source", metavar="CONFIG|RUN")
@click.argument("file", type=options.output, metavar="FILE")
@_of_a_table
@options.force
def save(source: str, file: Path, results: Path, **wanted: str | None) -> int:
    """Fit one row on all ratings and save the model to FILE.

    `harness.load_model` reads it in Python and gives a real Surprise object. The file holds arrays,
    JSON and checksums, no pickle; the ratings are in it.
    """
    model, _ = _fitted(source, results, wanted)
    harness.save_model(model, file)
    size = file.stat().st_size / 1e6
    say(f'written to {file} ({size:.1f} MB); read it with harness.load_model("{file}")')
    return 0


def _fitted(
    source: str,
    results: Path,
    wanted: dict[str, str | None],
    check: Callable[[ColumnTrainset], object] = lambda trainset: None,
) -> tuple[Any, bool]:
    """Return the model of a row of a run or of a config, and whether estimates are clipped."""
    from harness.config.load import bundled, load

    found: Run | str = source
    if Path(source).suffix not in CONFIG_ENDINGS:
        try:
            (found,) = options.opened((source,), results)
        except ResultsError:
            if source not in bundled() and not Path(source).is_file():
                raise
    if isinstance(found, str) and any(v for k, v in wanted.items() if k != "algorithm"):
        raise HarnessError(
            "--metric, --dataset, --split and --candidates choose a table of a run, and "
            f"{source} is a config; leave them out"
        )

    def note(sentence: str) -> None:
        say(sentence, err=True)

    experiment = load(found)[0] if isinstance(found, str) else found.info.experiment
    model = harness.fit_row(
        found, wanted.pop("algorithm"), progress=_stages(), say=note, check=check, **wanted
    )
    return model, experiment.clip


def _few(users: Collection[str]) -> str:
    """Return the first few users, and how many more there are."""
    return listed([*map(repr, users)], FEW)


def _users_in(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "not UTF-8 text"
        raise DataError(f"{path}: cannot be read ({reason}); check the file") from None
    names = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not names:
        raise DataError(f"{path}: no users; write one a line")
    return names


def _stages() -> Callable[[str, int, int], None]:
    """Return what says a stage when it begins and, every few seconds, how far it is."""
    from harness.cli.progress import in_words
    from harness.execution.events import Stage

    last, said = "", 0.0

    def progress(stage: str, done: int, total: int) -> None:
        nonlocal last, said
        now = time.monotonic()
        if stage != last or (total and now - said >= SAY_SECONDS):
            say(in_words(Stage("", stage, done, total)) if stage == last else stage, err=True)
            last, said = stage, now

    return progress


def _reported(blocks: Iterator[pd.DataFrame], left: dict[str, None]) -> Iterator[pd.DataFrame]:
    """Pass blocks on, take their users out of those that are left, and say how many are done."""
    n_users, progress = len(left), _stages()
    for block in blocks:
        yield block
        for user in block["user"].unique():
            left.pop(str(user), None)
        progress("recommending", n_users - len(left), n_users)


def _write(file: IO[bytes], form: str, blocks: Iterator[pd.DataFrame]) -> int:
    """Write lists in a format; return how many items they have."""
    n_items = 0
    if form == "parquet":
        kinds = (pa.string(), pa.string(), pa.float64(), pa.int64())
        schema = pa.schema(list(zip(("user", "item", "estimate", "rank"), kinds, strict=True)))
        with pq.ParquetWriter(file, schema) as writer:
            for block in blocks:
                texts = block.astype({"user": str, "item": str})
                writer.write_table(pa.Table.from_pandas(texts, schema, preserve_index=False))
                n_items += len(block)
        return n_items
    for number, block in enumerate(blocks):
        if form == "csv":
            text = block.to_csv(index=False, header=number == 0)
        elif form == "jsonl":
            rows = block.itertuples(index=False, name=None)
            keys = list(block)
            lines = (dict(zip(keys, row, strict=True)) for row in rows)
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        else:
            ids = [*block["user"].unique(), *block["item"].unique()]
            for each in ids:
                if not str(each) or any(character.isspace() for character in str(each)):
                    raise DataError(f"--format trec: the id {each!r} has a blank; use csv")
            text = "".join(
                f"{user} Q0 {item} {rank} {estimate!r} harness\n"
                for user, item, estimate, rank in block.itertuples(index=False, name=None)
            )
        file.write(text.encode())
        n_items += len(block)
    return n_items
