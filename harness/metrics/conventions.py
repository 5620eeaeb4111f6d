"""Named sets of choices: how each library or source computes its metrics.

The labels were compared, user by user, with what each library returned in the version named; the
notes describe what a label cannot express.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.metrics.grammar import number
from harness.metrics.labels import Metric, parse

__all__ = ["Convention", "conventions"]


@dataclass(frozen=True)
class Convention:
    """How one library or source computes its metrics.

    Parameters
    ----------
    name : str
    source : str
        The library with the version that was compared, or the source.
    templates : tuple of (str, str)
        For each role, as ``ndcg`` or ``ap``, the label without its rank. ``{t}`` stands for the
        threshold of relevance, ``{bt}`` for the same in brackets, ``{below}`` for one less.
    threshold : float or None
        The library's own threshold of relevance; None when anything above 0 is relevant.
    notes : tuple of str
        What labels cannot express.

    Examples
    --------
    >>> rectools = conventions()["rectools"]
    >>> str(rectools.metrics(k=10, threshold=4)["ndcg"])
    'ndcg(gain=binary(4), ideal=full, ties=first)@10'
    """

    name: str
    source: str
    templates: tuple[tuple[str, str], ...]
    threshold: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def roles(self) -> tuple[str, ...]:
        """The metrics that the convention defines."""
        return tuple(role for role, _ in self.templates)

    def metrics(self, k: int = 10, threshold: float | None = None) -> dict[str, Metric]:
        """Return the convention's metrics at one rank.

        Parameters
        ----------
        k : int
            Cut-off rank; metrics that the library computes over whole lists ignore it.
        threshold : float, optional
            Least relevance of a relevant item for binary metrics; by default the library's own.

        Returns
        -------
        dict of str to Metric
            By role.
        """
        least = self.threshold if threshold is None else threshold
        fill = {
            "t": "positive" if least is None else number(least),
            "bt": "" if least is None else f"({number(least)})",
            "below": "0" if least is None else number(least - 1),
        }
        found = {}
        for role, template in self.templates:
            label = template.format(**fill)
            found[role] = parse(label.removesuffix("@") if label.endswith("@") else f"{label}@{k}")
        return found


def conventions() -> dict[str, Convention]:
    """Return every convention by name.

    Examples
    --------
    >>> sorted(conventions())[:4]
    ['bellei-2017', 'cornac', 'elliot', 'implicit']
    """
    return dict(_CONVENTIONS)


def _binary(rules: str, **changed: str) -> tuple[tuple[str, str], ...]:
    """Return the usual binary metrics with the same rules, some of them changed."""
    roles = {"precision": "precision", "recall": "recall", "f1": "fbeta", "ap": "ap"}
    roles |= {"rr": "rr", "hit": "hit"}
    return tuple(
        (role, changed.get(role, f"{name}(threshold={{t}}, {rules})"))
        for role, name in roles.items()
        if changed.get(role) != ""
    )


_ZERO = "ties=first, undefined=0"
_SKIP = "ties=first"
_NO_F1 = {"f1": ""}

_ALL = (
    Convention(
        "sklearn",
        "scikit-learn 1.9.1: ndcg_score, dcg_score, average_precision_score",
        (
            ("ndcg", "ndcg(gain=linear, undefined=0)"),
            ("dcg", "dcg(gain=linear, negative=keep)"),
            ("ap", "ap(threshold={t}, ties=together, undefined=0)@"),
        ),
        notes=(
            "it refuses negative relevances in ndcg_score, and a list of one item",
            "with ignore_ties=True the order of ties is that of an unstable sort",
        ),
    ),
    Convention(
        "rectools",
        "rectools 0.19.0: NDCG, MAP, MRR, Precision, Recall, F1Beta, HitRate",
        (("ndcg", "ndcg(gain=binary{bt}, ideal=full, ties=first)"), *_binary(_SKIP)),
        notes=(
            "divide_by_achievable=True is ndcg(gain=binary, ties=first)",
            "MAP(divide_by_k=True) is ap(denominator=k); Precision(r_precision=True) is "
            "precision(denominator=achievable)",
        ),
    ),
    Convention(
        "ranx",
        "ranx 0.3.21: ndcg and binary measures of Qrels and Run objects, make_comparable=True",
        (
            (
                "ndcg",
                f"ndcg(gain=linear, threshold=1, negative=zero, grades=whole, {_ZERO})",
            ),
            *_binary(_ZERO),
        ),
        threshold=1.0,
        notes=(
            "ties keep their order only up to 15 items; from 16 on the order is arbitrary",
            "plain dicts keep fractions of grades, and reverse ties",
        ),
    ),
    Convention(
        "ranx-burges",
        "ranx 0.3.21: ndcg_burges",
        (("ndcg", f"ndcg(threshold=1, negative=zero, grades=whole, {_ZERO})"),),
        threshold=1.0,
        notes=("as ranx, with the gain 2**rel - 1",),
    ),
    Convention(
        "trec_eval",
        "trec_eval as in pytrec-eval-terrier 0.5.11 and ir-measures 0.4.3",
        (
            ("ndcg", f"ndcg(gain=linear, negative=zero, {_ZERO})"),
            *_binary(_ZERO, **_NO_F1, rr="rr(threshold={t}, ties=first, undefined=0)@"),
        ),
        threshold=1.0,
        notes=(
            "equal scores are in descending order of document id, as in a run from a TREC "
            "file; otherwise in the order of the rows",
            "a user without judgments has no score, and scores are compared in 32 bits",
        ),
    ),
    Convention(
        "mllib",
        "pyspark 4.3.0: RankingMetrics and RankingEvaluator",
        (
            ("ndcg", f"ndcg(gain=binary{{bt}}, {_ZERO})"),
            *_binary(
                _ZERO,
                **_NO_F1,
                rr="",
                hit="",
                ap=f"ap(threshold={{t}}, denominator=achievable, {_ZERO})",
            ),
        ),
        notes=(
            "meanAveragePrecision, without a rank, divides by all relevant items",
            "the third column, relevance, is lost when it is passed from Python",
        ),
    ),
    Convention(
        "lenskit",
        "lenskit 2025.8.1: NDCG, DCG, AveragePrecision, RecipRank, Precision, Recall, Hit",
        (
            ("ndcg", "ndcg(gain=binary{bt}, discount=jarvelin, ties=first)"),
            ("graded ndcg", "ndcg(gain=linear, negative=keep, discount=jarvelin, ties=first)"),
            *_binary(
                _SKIP,
                **_NO_F1,
                precision=(
                    "precision(threshold={t}, denominator=list, ties=first, undefined=0, empty=nan)"
                ),
                recall="recall(threshold={t}, denominator=achievable, ties=first)",
                ap="ap(threshold={t}, denominator=retrievable, ties=first, empty=nan)",
            ),
        ),
        notes=(
            "every test item is relevant, including one rated 0",
            "list_summary counts undefined scores as 0",
        ),
    ),
    Convention(
        "recbole",
        "recbole 1.2.1: NDCG, MAP, MRR, Precision, Recall, Hit",
        (
            ("ndcg", f"ndcg(gain=binary{{bt}}, {_ZERO})"),
            *_binary(
                _ZERO,
                **_NO_F1,
                recall="recall(threshold={t}, ties=first)",
                ap=f"ap(threshold={{t}}, denominator=achievable, {_ZERO})",
            ),
        ),
        notes=("its mean recall is nan if any user has no relevant item",),
    ),
    Convention(
        "cornac",
        "cornac 3.0.1: NDCG, NCRR, MAP, MRR, Precision, Recall, FMeasure, HitRatio",
        (
            ("ndcg", "ndcg(gain=binary{bt}, ties=first)"),
            ("ncrr", f"ndcg(gain=binary{{bt}}, discount=reciprocal, {_ZERO})"),
            *_binary(
                _ZERO,
                recall="recall(threshold={t}, ties=first)",
                ap="ap(threshold={t}, ties=together)@",
                rr="rr(threshold={t}, ties=first)@",
            ),
        ),
        threshold=1.0,
        notes=("ties are in the order of an unstable sort, except for MAP",),
    ),
    Convention(
        "microsoft",
        "recommenders 1.2.1: ndcg_at_k, map_at_k, precision_at_k, recall_at_k",
        (
            ("ndcg", "ndcg(gain=binary{bt}, ties=first)"),
            ("graded ndcg", "ndcg(negative=keep, ties=first)"),
            *_binary(
                f"{_SKIP}, empty=nan",
                **_NO_F1,
                rr="",
                hit="",
                ap="ap(threshold={t}, denominator=achievable, ties=first, empty=nan)",
            ),
        ),
        notes=(
            "users without recommendations count 0 in ndcg and are left out of the rest",
            "every rating is relevant in the binary ndcg, including 0",
        ),
    ),
    Convention(
        "elliot",
        "Elliot 0.3.1: nDCG, from its published source",
        (
            (
                "ndcg",
                "ndcg(threshold={t}, offset={below}, ties=first, empty=nan)",
            ),
        ),
        threshold=0.0,
        notes=("the gain is 2**(rating - threshold + 1) - 1 from the threshold on",),
    ),
    Convention(
        "torchmetrics",
        "torchmetrics 1.9.0: retrieval metrics",
        (
            ("ndcg", "ndcg(gain=linear, negative=keep, undefined=0)"),
            *_binary(_ZERO, **_NO_F1, ap=f"ap(threshold={{t}}, denominator=hits, {_ZERO})"),
        ),
        notes=(
            "scores are compared in 32 bits",
            "all but ndcg and hit leave out items with a score of 0 or less, and order ties by an "
            "unstable sort",
            "a user whose relevances sum to 0 counts as one without a relevant item",
        ),
    ),
    Convention(
        "implicit",
        "implicit 0.7.3: ranking_metrics_at_k",
        (
            ("ndcg", "ndcg(gain=binary{bt}, ties=first)"),
            ("precision", "precision(threshold={t}, denominator=achievable, ties=first)"),
            ("ap", "ap(threshold={t}, denominator=achievable, ties=first)"),
        ),
        notes=(
            "its table value of precision is all hits over all min(k, relevant), not a mean",
            "every stored entry is relevant, including a stored 0",
        ),
    ),
    Convention(
        "vincent-2018",
        "Nicholas Vincent, 2018: Walking through the nitty gritty: nDCG calculations (notebook)",
        (("ndcg", "ndcg(ties=first)"), ("dcg", "dcg(ties=first)"), ("idcg", "idcg")),
    ),
    Convention(
        "rectools-docs",
        "RecTools documentation: rectools.metrics.ranking.NDCG",
        (("ndcg", "ndcg(gain=binary{bt}, ideal=full, ties=first)"),),
        notes=("as rectools",),
    ),
    Convention(
        "singh-2025",
        "Nikhil Singh, 2025: NDCG Score: Fine-Tuning Recommendation System Evaluation (article)",
        (("ndcg", "ndcg(gain=linear, undefined=0)"), ("hitrate ndcg", "hitrate_ndcg")),
        notes=("its small example orders ties last in the input first: ties=last",),
    ),
    Convention(
        "nicolas-2022",
        "Patrick Nicolas, 2022: Discounted Cumulative Gain in Scala (article)",
        (("ndcg", "ndcg(ties=first)@"), ("idcg", "idcg@")),
        notes=("a list of another length than the reference scores 0 there, and is an error here",),
    ),
    Convention(
        "bellei-2017",
        "Claudio Bellei, 2017: The confusion over information retrieval metrics in Recommender "
        "Systems (article)",
        (
            ("ndcg", "ndcg(gain=binary{bt}, ideal=retrieved, ties=first)"),
            *_binary(_SKIP, hit="", ap="ap(threshold={t}, denominator=hits, ties=first)"),
        ),
    ),
)

_CONVENTIONS = {each.name: each for each in _ALL}
