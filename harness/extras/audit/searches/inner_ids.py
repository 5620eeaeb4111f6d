"""Positions in the training set, as Surprise's inner ids, in place of ids."""

from __future__ import annotations

from harness._util.libraries import pd
from harness.extras.audit.search import EXPECTED, PAIR, AuditSearch, Values, pairs_of, share

NUMBER = "0|[1-9][0-9]{0,8}"


def of_file(
    search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame | None, train: pd.DataFrame
) -> bool:
    """Search pairs that avoid the training pairs, or are all among them, only as positions.

    Return whether they are positions. With ids as they are, some pairs are in training by chance.
    """
    if "item" not in rows:
        return False
    training = pairs_of(train)
    seen = pairs_of(rows).isin(training)
    if not 0 < seen.sum() < len(rows):
        return False
    users, items = (train[role].value_counts() for role in PAIR)
    for roles in (PAIR, PAIR[1:], PAIR[:1]):
        read = _by_position(rows, train, roles)
        if read is None:
            continue
        inside = int(pairs_of(read).isin(training).sum())
        by_chance = (read["user"].map(users) * read["item"].map(items)).sum() / len(train)
        if inside == len(rows) or (inside == 0 and by_chance >= EXPECTED):
            said = {"seen": share(seen), "roles": [f"{role}s" for role in roles]}
            first, right = rows.iloc[0], read.iloc[0]
            said |= {"user": first["user"], "item": first["item"]}
            said |= {"right_user": right["user"], "right_item": right["item"]}
            after: Values = {} if truth is None else search.effect((rows, truth), (read, truth))
            search.found(f"inner-ids.{'training' if inside else 'test'}", after, **said)
            return True
    return False


def _by_position(rows: pd.DataFrame, train: pd.DataFrame, roles: list[str]) -> pd.DataFrame | None:
    """Return the rows with the ids at these positions; None where some are none, or all the same.

    Positions count the ids of the training file from 0, in the order of their first row.
    """
    read = rows
    for role in roles:
        order = train[role].drop_duplicates().to_numpy()
        if not rows[role].str.fullmatch(NUMBER).all():
            return None
        places = rows[role].astype(int).to_numpy()
        if places.max() >= len(order):
            return None
        ids = order[places]
        if (ids == rows[role].to_numpy()).all():
            return None
        read = read.assign(**{role: ids})
    return read
