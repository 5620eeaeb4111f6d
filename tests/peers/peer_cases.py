"""Random lists on which the package and its peers are compared: ties, gaps, short and empty lists.

Plain Python, so that every peer's environment can read what it makes.
"""

import random

CUTS = (1, 3, 5, 10)
LONGEST = 15  # ranx keeps the order of ties no further


def tied(n_users, seed=1):
    """Return users whose items are all judged, with estimates that tie."""
    rng = random.Random(seed)
    users = []
    for user in range(n_users):
        n = rng.randint(2, LONGEST)
        grades = [rng.randint(0, 5) for _ in range(n)]
        users.append(
            {
                "user": f"u{user:04d}",
                "items": [f"i{item:02d}" for item in rng.sample(range(60), n)],
                "estimates": [rng.choice([1.5, 2.0, 2.5, 4.0]) for _ in range(n)],
                "grades": [0] * n if user % 17 == 0 else grades,
            }
        )
    return users


def listed(n_users, seed=2):
    """Return users with a list in order, and grades of some of its items and of items it missed.

    Every ninth user has nothing relevant, every eleventh nothing recommended, and every
    thirteenth was judged by nobody.
    """
    rng = random.Random(seed)
    users = []
    for user in range(n_users):
        items = [f"i{item:02d}" for item in rng.sample(range(40), rng.randint(1, LONGEST))]
        known = rng.sample([f"i{item:02d}" for item in range(40)], rng.randint(1, 12))
        grades = {item: rng.randint(0, 5) for item in known}
        if user % 9 == 0:
            grades = dict.fromkeys(known, 0)
        if user % 13 == 12:
            grades = {}
        users.append(
            {
                "user": f"u{user:04d}",
                "items": [] if user % 11 == 0 else items,
                "grades": grades,
            }
        )
    return users


ODD = {
    "ranx, 16 tied": ({f"i{item:02d}": 1.0 for item in range(16)}, {"i00": 1}),
    "ir_measures, RR@10": ({"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1}),
    "trec_eval, 32 bits": ({"a": 1.0 + 1e-8, "b": 1.0}, {"a": 1}),
    "mllib, relevance": ({"1": 3.0, "2": 2.0, "3": 1.0}, {"3": 3, "1": 1}),
    "torchmetrics, 32 bits": ({"a": 1.0, "b": 1.0 + 1e-9}, {"a": 0, "b": 1}),
    "torchmetrics, negative scores": ({"a": -1.0, "b": -2.0, "c": -3.0}, {"a": 1, "b": 0, "c": 1}),
    "microsoft, rating of 0": ({"a": 2.0, "c": 1.0}, {"a": 0, "b": 1}),
    "cornac, no hit": ({"1": 2.0, "2": 1.0}, {"7": 1}),
    "recbole, new NumPy": ({"a": 1.0}, {"a": 1}),
}
"""One user each, scores and grades by item, on whom a library does what no label can say."""
