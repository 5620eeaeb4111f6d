"""``harness recommend``: the best items of each user by one row."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

import harness
from harness._util.files import open_output
from harness._util.libraries import pa, pd, pq
from harness._util.terminal import answers
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.fitted import fitted, stages
from harness.console.screen import documents, give_result, say
from harness.errors import DataError, HarnessError, counted, listed, reason_of
from harness.models.estimates import not_ratings
from harness.models.recommendations import check_least

if TYPE_CHECKING:
    from harness.algorithms.trainset import ColumnTrainset
    from harness.models.recommendations import Seen, Unknown


FEW = 5
"""Users that a message names."""
FORMATS = ("csv", "parquet", "jsonl", "trec")
OTHER_FORMS = ("xlsx", "xls", "ods", "json", "tsv", "html", "md", "tex", "feather", "pdf")
"""Endings of files that readers would take for what they do not hold."""


@command(
    "recommend quickstart --top 5",
    "recommend my.yaml --users users.txt -o lists.parquet",
    group="Use a model",
)
@click.argument("source", metavar="CONFIG|RUN|MODEL", shell_complete=words.configs_and_runs)
@options.row
@options.overrides
@click.option(
    "--top", type=click.IntRange(1), default=10, show_default=True, help="Items for each user."
)
@click.option(
    "--users", type=options.file, help="A file with one user a line; by default all users."
)
@click.option(
    "--items",
    type=options.file,
    help="A file with one item a line: recommend only these, for example the items in stock.",
)
@click.option(
    "--without", type=options.file, help="A file with one item a line: never recommend these."
)
@click.option(
    "--unknown-users",
    type=options.Choice(("error", "popular")),
    default="error",
    show_default=True,
    help="If a user of --users has no ratings: stop with an error, or recommend the most rated "
    "items.",
)
@options.formats(*FORMATS, help="By default what --output ends with; parquet needs --output.")
@click.option(
    "-o",
    "--output",
    type=options.printed,
    help="A file; by default, or with -, the lists are printed.",
)
@click.option(
    "--seen",
    type=options.Choice(("leave-out", "keep")),
    default="leave-out",
    show_default=True,
    help="Leave out the items that the user has rated, or keep them.",
)
@click.option("--least", type=float, help="The smallest estimate of a recommended item.")
@options.force
def recommend(
    source: str,
    results: Path,
    overrides: tuple[str, ...],
    top: int,
    users: Path | None,
    items: Path | None,
    without: Path | None,
    unknown_users: Unknown,
    form: str,
    output: Path | None,
    seen: Seen,
    least: float | None,
    **choice: str | None,
) -> int:
    """Fit one row on all ratings and write the best items of each user.

    From a run, it fits the best row with its parameters; from a config, the only algorithm.
    --algorithm names another one. A model that `harness save` wrote, such as model.zip, is not
    fitted again. Candidates are all items, or the items of --items, without the items that the user
    has rated. Estimates are clipped unless the config has `clip: false`.
    """
    ending = "" if output is None else output.suffix.removeprefix(".").lower()
    form = ending if ending in FORMATS and not options.in_the_call("form") else form
    if ending in OTHER_FORMS and not options.in_the_call("form"):
        raise HarnessError(
            f"--output {output}: lists are not written as {ending}; use one of "
            f"{', '.join(f'.{each}' for each in FORMATS)}, or name the form with --format"
        )
    if form == "parquet" and output is None:
        raise HarnessError("--format parquet: it cannot be printed; give a file with --output")
    names = [] if users is None else _lines_in(users, "users")
    allowed = None if items is None else _lines_in(items, "items")
    hidden = None if without is None else _lines_in(without, "items")

    def check(trainset: ColumnTrainset, clip: bool) -> None:
        nonlocal allowed
        check_least(least, trainset.rating_scale[1] if clip else math.inf)
        if form == "trec":
            _check_words(names or trainset._raw2inner_id_users, trainset._raw2inner_id_items)
        if allowed is not None:
            trained = trainset._raw2inner_id_items
            strange = [item for item in allowed if item not in trained]
            allowed = [item for item in allowed if item in trained]
            if not allowed:
                raise DataError(f"{items}: no item has a rating ({_few(strange)}); check the ids")
            if strange:
                have = "has" if len(strange) == 1 else "have"
                some = f"{counted(len(strange), 'item')} of {items} {have} no ratings"
                say(f"note: {some}, so no list shows them: {_few(strange)}", err=True)
        if unknown_users == "popular":
            return
        if unknown := [user for user in names if user not in trainset._raw2inner_id_users]:
            have = "has" if len(unknown) == 1 else "have"
            raise DataError(
                f"{users}: {len(unknown)} of {counted(len(names), 'user')} {have} no ratings "
                f"({_few(unknown)}); remove them, recommend to them in Python with "
                "harness.fold_in, or use --unknown-users popular"
            )

    model, clip = fitted(source, results, choice, check, overrides=overrides)
    without_list = dict.fromkeys(names or map(str, model.trainset._raw2inner_id_users))
    blocks = harness.recommend_in_blocks(
        model,
        n=top,
        users=names or None,
        items=allowed,
        without=hidden,
        seen=seen,
        least=least,
        clip=clip,
        unknown_users=unknown_users,
    )
    if documents and output is None:
        frames = list(_reported(blocks, without_list))
        give_result(pd.concat(frames) if frames else [])
        return 0
    target: AbstractContextManager[IO[bytes]] = (
        nullcontext(answers().buffer) if output is None else open_output(output)
    )
    n_users = len(without_list)
    with target as file:
        n_items = _write(file, form, _reported(blocks, without_list))
    answers().flush()
    place = f" to {output}" if output else ""
    lists = (
        f"{counted(n_items, 'recommendation')} for {counted(n_users - len(without_list), 'user')}"
    )
    say(f"{lists}{place}", err=True)
    if output and documents:
        documents[0].files.append(str(output))
    if without_list:
        shown = f"{counted(len(without_list), 'user')}: {_few(without_list)}"
        say(f"note: no item is left for {shown}", err=True)
    if meaning := not_ratings(model):
        say(f"note: {type(model).__name__}: an estimate is not a rating, but {meaning}", err=True)
    return 0


def _few(users: Collection[str]) -> str:
    """Return the first few users, and how many more there are."""
    return listed([*map(repr, users)], FEW)


def _lines_in(path: Path, what: str) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "not UTF-8 text"
        raise DataError(f"{path}: cannot be read ({reason}); check the file") from None
    names = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not names:
        raise DataError(f"{path}: no {what}; write one a line")
    return names


def _reported(
    blocks: Iterator[pd.DataFrame], without_list: dict[str, None]
) -> Iterator[pd.DataFrame]:
    """Pass blocks on, strike their users off those without a list, and say how many have one."""
    n_users, progress = len(without_list), stages()
    for block in blocks:
        yield block
        for user in block["user"].unique():
            without_list.pop(str(user), None)
        progress("recommending", n_users - len(without_list), n_users)


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
            text = _trec(block)
        file.write(text.encode())
        n_items += len(block)
    return n_items


def _check_words(*ids: Iterable[object]) -> None:
    """Refuse ids that are not one word each."""
    for name in itertools.chain(*ids):
        if len(str(name).split()) != 1 or str(name) != str(name).strip():
            raise DataError(f"--format trec: the id {name!r} has a blank; use csv")


def _trec(block: pd.DataFrame) -> str:
    """Return lists as a TREC run, whose ids have no blanks."""
    _check_words(block["user"].unique(), block["item"].unique())
    return "".join(
        f"{user} Q0 {item} {rank} {estimate!r} harness\n"
        for user, item, estimate, rank in block.itertuples(index=False, name=None)
    )
