"""Items in the lists that their user rated in training."""

from __future__ import annotations

from harness._util.libraries import pd
from harness.extras.audit.search import AuditSearch, Values, pairs_of, share


def of_file(
    search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame | None, train: pd.DataFrame
) -> None:
    """Compare the listed pairs that nobody judged with the training pairs."""
    if "item" not in rows:
        return
    seen = pairs_of(rows).isin(pairs_of(train))
    judged = rows["rating"] > 0 if truth is None else pairs_of(rows).isin(pairs_of(truth))
    seen &= ~judged  # what is judged too is a test pair in training
    if not seen.any():
        return
    without = rows[~seen]
    users = rows.loc[seen, "user"].nunique()
    lists = rows.sort_values(["user", "key"], ascending=[True, False], kind="stable")
    orders = lists.groupby("user")["item"].agg(tuple)
    effect: Values = search.effect((rows, truth), (without, truth))
    code = "same" if len(orders) > 1 and orders.nunique() == 1 else "pairs"
    search.found(
        f"training-items.{code}", effect, seen=share(seen), users=share(users, len(orders))
    )
