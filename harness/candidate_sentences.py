"""What candidates are ranked, as a sentence for the methods text of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.candidates import CandidatesSection

RANKED = {
    "rated": "Each user's own test ratings are ranked.",
    "catalogue": "Every item of the training part is ranked for every test user, those that the "
    "user rated in training {training}; an item without a test rating has relevance 0.",
    "sampled": "Each user's test ratings are ranked among {0.n} items drawn at random{by} from "
    "those without a rating of the user, which have relevance 0.",
    "file": "The items that {0.file} lists for a user are ranked; an item without a test rating "
    "has relevance 0.",
    "function": "The items that the function {0.function} lists for a user are ranked; an item "
    "without a test rating has relevance 0.",
}
"""By kind of candidates."""
SENTENCES = {
    ("unknown_items", "count"): " Test items without a training rating cannot be ranked but count "
    "in the ideal.",
    ("unknown_items", "drop"): " Test items without a training rating are left out.",
    ("unknown_users", "drop"): " Users without a training rating are left out, of lists and of "
    "errors of estimates alike.",
    ("list_ties", "training"): " Lists show equal estimates in the order of the training part.",
}


def sentence(section: CandidatesSection) -> str:
    """Return a sentence on what was ranked."""
    training = "included" if getattr(section, "training_items", "") == "keep" else "left out"
    weighted = getattr(section, "by", None) == "popularity"
    by = ", in proportion to their training ratings," if weighted else ""
    text = RANKED[section.kind].format(section, training=training, by=by) + section.texts(SENTENCES)
    if section.least_estimate is None:
        return text
    return f"{text} Items estimated below {section.least:.16g} are left out of the lists."
