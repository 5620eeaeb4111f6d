"""What several adapters need: lists in their order, and what cannot be expressed."""


def ranked(relevance, scores):
    """Return the positions of the listed items, the highest score first."""
    listed = [i for i in range(len(scores)) if scores[i] is not None]
    if len({scores[i] for i in listed}) < len(listed):
        raise NotImplementedError("it takes a ranked list; the caller orders equal scores")
    return sorted(listed, key=lambda i: -scores[i])


def complete(relevance, scores):
    """Leave out cases with items that are not judged or not listed."""
    if None in relevance or None in scores:
        raise NotImplementedError("it takes only judged items, each with a score")


def grades(relevance, items):
    """Return the grade of each judged item by name."""
    return {i: grade for i, grade in zip(items, relevance) if grade is not None}


def names(relevance, items=None):
    """Return a name for each item: text, in the order of the input when it is sorted."""
    return items or [f"i{n:03}" for n in range(len(relevance))]
