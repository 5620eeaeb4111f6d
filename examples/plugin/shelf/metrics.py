"""A metric: a function of the lists at one cut-off rank."""

import harness


@harness.metric("share of the first k items with few training ratings", needs="items")
def small_share(lists, k, *, threshold=0.1):
    """Few are at most `threshold` of the ratings of the most rated item."""
    few = lists.popularity <= threshold * lists.popularity.max()
    return lists.mean(few[lists.items(k)], k)
