"""Relevance judgements of a file in the place of held-out ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness._util.arguments import MOST_RATING, unit_fault
from harness._util.libraries import pd
from harness.datasets import Ratings
from harness.datasets.exchanged import read_table
from harness.datasets.readers.trec import QRELS
from harness.errors import SplitError, counted
from harness.notes.note import Note
from harness.splits.base import Fold, Rows, SplitSection, assemble

if TYPE_CHECKING:
    from harness.datasets.conversion import Coded, Table


class Judgements(SplitSection):
    """Relevance judgements, as qrels, in the place of held-out ratings."""

    example: ClassVar[Mapping[str, object]] = {"path": "judgements.csv"}

    from_files = True
    kind: Literal["judgements"] = "judgements"
    """All ratings are training, and the test set is the relevance judgements of a file. A judgement
    of 0 marks an item that is not relevant; a judgement of an item that the user rated in training
    is left out."""
    path: Annotated[str, Field(min_length=1)]
    """Qrels of TREC or ranx, or a table of user, item and, unless all are 1, grade."""

    def splits(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Fold]:
        """Return the training rows, and the judgements as rows behind the ratings."""
        table = read_table(self.path, ("user", "item"), ("rating",), form=QRELS, base=base)
        grades = self._grades(table)
        train = np.arange(len(ratings)) if rows is None else rows
        users, user_ids = self._coded(table.ids["user"], ratings.user_ids, "user", ratings.name)
        items, item_ids = self._coded(table.ids["item"], ratings.item_ids, "item", ratings.name)
        of_pair = pd.Index(ratings.users.astype(np.int64) * len(item_ids) + ratings.items)
        place = of_pair.get_indexer(users.astype(np.int64) * len(item_ids) + items)
        is_rated = np.isin(place, train) & (place >= 0)
        if n_elsewhere := int(np.count_nonzero((place >= 0) & ~is_rated)):
            raise SplitError(
                f"{self.path}: {n_elsewhere:,} of {counted(len(grades), 'judgement')} "
                "are of pairs that the outer split tests; judge others for validation"
            )
        judged = ~is_rated
        if not judged.any():
            raise SplitError(
                f"{self.path}: every judged item was rated by its user in training, and cannot be "
                "recommended; give judgements of items without a rating of the user"
            )
        columns = users[judged], items[judged], grades[judged]
        whole = _with_rows(ratings, *columns, user_ids, item_ids)
        if ratings.timestamps is not None:  # made after all that is known
            latest = np.full(int(judged.sum()), ratings.timestamps[train].max())
            whole = replace(whole, timestamps=np.append(ratings.timestamps, latest))
        test = np.arange(len(ratings), len(whole))
        divided = None if rows is None else np.append(rows, test)
        graded = grades[judged]
        values = {"n": len(test), "n_users": len(np.unique(users[judged]))}
        values |= {"least": graded.min(), "greatest": graded.max()}
        notes = [note.at(self.path) for note in table.notes]
        notes.append(Note("judgements", values))
        if n_rated := int(is_rated.sum()):
            notes.append(Note("judgements-rated", {"n": n_rated, "n_all": len(grades)}))
        return assemble(self.describe(), whole, [(train, test)], divided, (*notes,))

    def _grades(self, table: Table) -> NDArray[np.float64]:
        """Return the grade of each judgement, 1 where a file lists only relevant items."""
        if "estimate" in table.numbers:
            raise SplitError(f"{self.path}: a run of TREC; give qrels: user, 0, item, grade")
        grades = table.numbers.get("rating", np.ones(len(table)))
        for row in np.flatnonzero(grades < 0)[:1]:
            raise SplitError(
                f"{table.at(row)}: the grade {grades[row]:.16g}; some qrels write grades below 0 "
                "for spam, others for what nobody judged: write 0 for what is judged and not "
                "relevant, and remove what is not judged"
            )
        if fault := unit_fault(MOST_RATING, grades):
            raise SplitError(f"{self.path}: the grades have {fault}")
        return grades

    def _coded(
        self, column: Coded, ids: NDArray[np.object_], role: str, name: str
    ) -> tuple[NDArray[np.int32], NDArray[np.object_]]:
        """Return the code of each row, and the ids with those that the ratings lack at the end."""
        codes = pd.Index(ids).get_indexer(pd.Index(column.ids)).astype(np.int32)
        unknown = codes < 0
        if unknown.all():
            raise SplitError(
                f"{self.path}: none of its {role}s, such as {column.ids[0]!r}, is in {name}, whose "
                f"{role}s look like {str(ids[0])!r}; give judgements of the same data set, with "
                "ids written alike"
            )
        codes[unknown] = len(ids) + np.arange(np.count_nonzero(unknown))
        return codes[column.codes], np.append(ids, column.ids[unknown])

    def describe(self) -> str:
        """Return the name of the file."""
        return f"judgements {PureWindowsPath(self.path).name}"  # of a path of any system

    def sentence(self, part: str = "test set") -> str:
        """Return a sentence for the methods text."""
        return (
            f"Models learn from all ratings, and the {part} is relevance judgements that are read "
            f"from {PureWindowsPath(self.path).name}, without judgements of items that their user "
            "rated in training."
        )


def _with_rows(
    ratings: Ratings,
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    grades: NDArray[np.float64],
    user_ids: NDArray[np.object_],
    item_ids: NDArray[np.object_],
) -> Ratings:
    """Return ratings with more rows, and perhaps more users and items, of whom nothing is known."""
    of_users, of_items = ratings.user_features, ratings.item_features
    return replace(
        ratings,
        users=np.append(ratings.users, users),
        items=np.append(ratings.items, items),
        ratings=np.append(ratings.ratings, grades),
        timestamps=None,
        user_ids=user_ids,
        item_ids=item_ids,
        user_features=None if of_users is None else of_users.reindex(pd.Index(user_ids)),
        item_features=None if of_items is None else of_items.reindex(pd.Index(item_ids)),
    )
