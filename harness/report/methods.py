"""Methods in sentences for a paper, with the literature that they cite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness import metrics, statistics
from harness.config.spaces import RECOMMENDED, Range
from harness.datasets.catalogue import CATALOGUE
from harness.report.procedures import (
    candidates_sentence,
    ndcg_sentence,
    space_sentence,
    split_sentence,
    validation_sentence,
)
from harness.report.sentences import joined
from harness.report.sources import Source, cited_in, source
from harness.report.styles import plain
from harness.results.environment import listed, measured
from harness.results.record import RunInfo

__all__ = ["Methods", "methods"]

_BY_ALGORITHM = {
    "svd": "koren2009matrix",
    "svdpp": "koren2008factorization",
    "nmf": "luo2014efficient",
    "slopeone": "lemire2005slope",
    "coclustering": "george2005scalable",
    "knnbaseline": "koren2010factor",
    "baselineonly": "koren2010factor",
    "sparkals": "zhou2008large",
    "implicitals": "takacs2011applications",
}
_LIBRARIES = {"sparkals": "pyspark", "implicitals": "implicit"}
_BASELINES = ("random", "popularity", "itemmean")
_TESTS = {
    "randomisation": ("Fisher's randomisation test of paired differences", "smucker2007comparison"),
    "t": ("Student's paired t-test", "smucker2007comparison"),
    "wilcoxon": ("Wilcoxon's signed-rank test", ""),
}
_CORRECTIONS = {
    "holm": (", with Holm's correction", "holm1979simple"),
    "benjamini-hochberg": (
        ", with Benjamini and Hochberg's correction",
        "benjamini1995controlling",
    ),
    "none": (", without a correction for the number of comparisons", ""),
}
_SEARCHES = {
    "random": ("random search", "bergstra2012random"),
    "grid": ("grid search", ""),
    "tpe": ("tree-structured Parzen estimators", "bergstra2011algorithms"),
}


@dataclass(frozen=True)
class Methods:
    """The account of one run.

    Parameters
    ----------
    paragraphs : tuple of (str, str)
        Heading and text, citations as ``(Koren 2008)``.
    sources : tuple of Source
        What is cited, in that order.
    """

    paragraphs: tuple[tuple[str, str], ...]
    sources: tuple[Source, ...]

    @property
    def bibtex(self) -> str:
        """The entries of everything that is cited."""
        return "\n\n".join(each.bibtex for each in self.sources) + "\n"


def methods(info: RunInfo) -> Methods:
    """Describe what a run did.

    Parameters
    ----------
    info : RunInfo
    """
    account = _Account(info)
    parts = (
        ("Data", account.data()),
        ("Split", account.split()),
        ("Candidates", account.candidates()),
        ("Metrics", account.metrics()),
        ("Algorithms", account.algorithms()),
        ("Tuning", account.tuning()),
        ("Inference", account.inference()),
        ("Computation", account.computation()),
    )
    paragraphs = tuple((heading, " ".join(text)) for heading, each in parts if (text := list(each)))
    return Methods(paragraphs, tuple(account.cited.values()))


class _Account:
    """Writes the paragraphs and collects what they cite."""

    def __init__(self, info: RunInfo) -> None:
        self.info = info
        self.config: dict[str, Any] = info.config
        self.splits: list[dict[str, Any]] = self.config["split"]
        self.cited: dict[str, Source] = {}

    def cite(self, *keys: str) -> str:
        """Return `` (Koren 2008)``, nothing for no key, and remember what was cited."""
        entries = [source(key) for key in dict.fromkeys(keys) if key]
        self.cited |= {each.key: each for each in entries}
        return f" ({'; '.join(each.cite for each in entries)})" if entries else ""

    def data(self) -> Iterator[str]:
        for data in self.info.datasets:
            known = CATALOGUE.get(data.source)
            title = known.title.partition(" (")[0] if known else plain(data.name)
            cited = self.cite(*(each.key for each in cited_in([known.citation])) if known else ())
            low, high = data.scale
            filters = f" after {joined(data.filters)}" if data.filters else ""
            yield (
                f"{title}{cited} holds {data.n_ratings:,} ratings of {data.n_items:,} items "
                f"by {data.n_users:,} users on a scale from {low:g} to {high:g}{filters}."
            )

    def split(self) -> Iterator[str]:
        for section in self.splits:
            yield split_sentence(section)
        n_train = sorted({each.n_train for each in self.info.splits})
        n_test = sorted({each.n_test for each in self.info.splits})
        seeds = [str(seed) for seed in self.info.seeds]
        yield (
            f"Training parts hold {_span(n_train)} ratings, test parts "
            f"{_span(n_test)}. Every random choice derives from the "
            f"seed{'s' if len(seeds) > 1 else ''} {joined(seeds)} unless it has one of its own."
        )

    def candidates(self) -> Iterator[str]:
        for section in self.config["candidates"]:
            yield candidates_sentence(section)
            if section["kind"] == "sampled":
                yield (
                    "Metrics over sampled candidates are biased"
                    + self.cite("krichene2020sampled")
                    + "."
                )
        clip = "are clipped" if self.config.get("clip", True) else "are not clipped"
        of_counts = any(
            _folded(row["name"]) == "implicitals" or row["params"].get("implicit")
            for row in self.config["algorithms"]
        )
        but = ", except for preferences learnt from counts" if of_counts else ""
        yield f"Candidates are ordered by the estimate; estimates {clip} to the scale{but}."

    def metrics(self) -> Iterator[str]:
        families: dict[tuple[Any, ...], list[metrics.Metric]] = {}
        for label in self.info.metrics:
            metric = metrics.parse(label)
            families.setdefault((metric.name, metric.chosen), []).append(metric)
        for family in families.values():
            metric = family[0]
            labels = joined([str(each) for each in family])
            cited = self.cite(*(each.key for each in cited_in([metric.definition.source])))
            formula = " = ".join([metric.name, metric.definition.formula])
            yield f"{labels}: {metric.definition.summary.rstrip('.')}{cited}, {formula}."
            if metric.name == "ndcg":
                yield ndcg_sentence(metric)
            elif metric.chosen:
                chosen = [f"{name}={value}" for name, value in metric.chosen]
                yield f"Here with {joined(chosen)}."
        yield (
            "A table value is the mean over users of each user's average over folds and seeds; for "
            "metrics of all pairs or all lists at once, as rmse, the mean over folds and seeds."
        )

    def algorithms(self) -> Iterator[str]:
        versions = self.info.versions
        known = " ".join(["scikit-surprise", versions.get("scikit-surprise", "")]).strip()
        groups: dict[str, list[str]] = {}
        for row in self.config["algorithms"]:
            folded = _folded(row["name"])
            params = ", ".join(f"{key}={_value(value)}" for key, value in row["params"].items())
            settings = [params] if params else []
            if row.get("search") and _space(row):
                settings.append("tuned")
            if row.get("label") and row["label"] != row["name"]:
                settings.insert(0, f"shown as {plain(row['label'])}")
            shown = f" [{'; '.join(settings)}]" if settings else ""
            counts = folded == "implicitals" or row["params"].get("implicit")
            cited = (_BY_ALGORITHM.get(folded, ""), "hu2008collaborative" if counts else "")
            groups.setdefault(_group(row["name"], folded), []).append(
                f"{plain(row['name'])}{self.cite(*cited)}{shown}"
            )
        if "surprise" in groups:
            yield (
                f"Models of {known}{self.cite('hug2020surprise')}, with its defaults unless said "
                f"otherwise: {joined(groups['surprise'])}."
            )
        if "library" in groups:
            packages = [
                " ".join([name, versions[name]]) for name in _LIBRARIES.values() if name in versions
            ]
            yield f"Models fitted by {joined(packages)}: {joined(groups['library'])}."
        if "own" in groups:
            yield f"Models of other code: {joined(groups['own'])}."
        if "baseline" in groups:
            yield f"Non-personalised baselines: {joined(groups['baseline'])}."
        if self.config.get("accelerate", True):
            yield (
                "Where available, compiled implementations with equal results fitted the models "
                "and computed the estimates."
            )

    def tuning(self) -> Iterator[str]:
        tuned = [row for row in self.config["algorithms"] if row.get("search")]
        if not tuned:
            return
        tuning = self.config["tuning"]
        method, key = _SEARCHES[tuning["method"]]
        budget = [f"{tuning['trials']:,} trials"] if tuning.get("trials") else []
        budget += [f"{tuning['seconds']:g} seconds"] if tuning.get("seconds") else []
        by_space: dict[str, list[str]] = {}
        for row in tuned:
            name = plain(row.get("label") or row["name"])
            by_space.setdefault(space_sentence(_space(row)), []).append(name)
        fixed = by_space.pop("", [])
        searched = [name for names in by_space.values() for name in names]
        if searched:
            yield (
                f"Parameters of {joined(searched)} were tuned by {method}{self.cite(key)} for "
                f"{plain(tuning['metric'])} on a validation part of the training ratings, with a "
                f"budget of {' and '.join(budget)} for each algorithm, fold and seed. The "
                "setting of the config was tried too. The best setting was fitted to the whole "
                "training part and tested once."
            )
            trials = self._trials()
            if trials:
                yield f"Trials of each search: {joined(trials)}."
            spaces = [f"{joined(names)}: {space}" for space, names in by_space.items()]
            yield f"Search spaces: {'; '.join(spaces)}."
            parts: dict[str, list[str]] = {}
            for split in self.splits:
                shown = validation_sentence(split, tuning)
                parts.setdefault(shown, []).append(split["kind"])
            for shown, kinds in parts.items():
                yield f"Under {joined(kinds)}: {shown}" if len(parts) > 1 else shown
        if fixed:
            yield f"{joined(fixed)} {'has' if len(fixed) == 1 else 'have'} nothing to tune."

    def _trials(self) -> list[str]:
        """Return how many trials the searches made, algorithms with equal numbers together."""
        counts: dict[str, list[int]] = {}
        for cell in self.info.cells:
            if cell.n_trials:
                counts.setdefault(plain(cell.algorithm), []).append(cell.n_trials)
        by_span: dict[str, list[str]] = {}
        for name, numbers in counts.items():
            by_span.setdefault(_span(sorted(set(numbers))), []).append(name)
        return [f"{span} of {joined(names)}" for span, names in by_span.items()]

    def inference(self) -> Iterator[str]:
        settings = self.config.get("statistics")
        if not settings or not self.info.statistics:
            return
        test, test_key = _TESTS[settings["test"]]
        correction, correction_key = _CORRECTIONS[settings["correction"]]
        interval = "BCa " if settings["interval"] == "bca" else "percentile "
        interval_key = "efron1987better" if settings["interval"] == "bca" else ""
        level = 1 - settings["confidence"]
        n_resamples = settings["resamples"] or statistics.DEFAULT_RESAMPLES
        yield (
            f"Algorithms were compared by {test} over users{self.cite(test_key)}{correction}"
            f"{self.cite(correction_key)} at level {level:.3g}; a user's scores in several folds "
            "or seeds were averaged first. "
            f"{100 * settings['confidence']:.4g}% intervals are {interval}bootstrap intervals over "
            f"users{self.cite(interval_key)}, from {n_resamples:,} resamples. Algorithms that "
            "share a letter are not significantly different"
            f"{self.cite('piepho2004algorithm')}."
        )
        if any(p.p_is_bound for each in self.info.statistics for p in each.pairs):
            how = "" if settings["resamples"] else self.cite("hoeffding1963probability")
            yield f"A p-value is an upper bound where no random sign flip was as extreme{how}."
        notes = {entry.note for entry in self.info.statistics} - {""}
        yield from (f"The comparison {plain(note)}." for note in sorted(notes))

    def computation(self) -> Iterator[str]:
        machine = self.info.machine
        packages = joined([f"{name} {number}" for name, number in self.info.versions.items()])
        yield (
            f"The run was made on {machine.system}, {plain(machine.processor)}, "
            f"{machine.cores} cores, {machine.memory_gb:g} GB, with {packages}."
        )
        if conditions := measured(self.info.cells):
            yield (
                "Fit and score times are wall clock without compilation, measured "
                f"{plain(listed(conditions))}. Peak memory is the most memory that a cell added "
                "to its process, without the data."
            )


def _folded(name: str) -> str:
    """Return a name as the registry compares it."""
    return "".join(c for c in name.casefold().replace("+", "p") if c.isalnum())


def _group(name: str, folded: str) -> str:
    if ":" in name:
        return "own"
    if folded in _LIBRARIES:
        return "library"
    return "baseline" if folded in _BASELINES else "surprise"


def _space(row: dict[str, Any]) -> dict[str, Any]:
    """Return the search space of an algorithm of the config; empty where nothing is searched."""
    if isinstance(row["search"], dict):
        return dict(row["search"])
    known = {_folded(name): space for name, space in RECOMMENDED.items()}
    space = known.get(_folded(row["name"]), {})
    return {
        key: each.model_dump() if isinstance(each, Range) else each for key, each in space.items()
    }


def _span(sizes: list[int]) -> str:
    return f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_value(each)}" for key, each in value.items()) + "}"
    return plain(value)
