"""How a run was made: methods in sentences for a paper, their sources, and how to repeat it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from harness import metrics, statistics
from harness.config.experiment import AlgorithmConfig
from harness.datasets.catalogue import CATALOGUE
from harness.report.sentences import joined, plain
from harness.report.sources import Source, all_sources, cited_in
from harness.report.styles import known_algorithms
from harness.results.environment import listed, measured, took
from harness.results.record import CellResult, RunInfo
from harness.sections import Range, SearchSpace, folded

__all__ = ["Methods", "command", "describe_cells", "describe_run", "methods", "to_yaml"]

_TESTS = {
    "randomisation": ("Fisher's randomisation test of paired differences", "smucker2007comparison"),
    "t": ("Student's paired t-test", "smucker2007comparison"),
    "wilcoxon": ("Wilcoxon's signed-rank test", ""),
}
_CORRECTIONS = {
    "holm": ("with Holm's correction", "holm1979simple"),
    "benjamini-hochberg": (
        "with Benjamini and Hochberg's correction",
        "benjamini1995controlling",
    ),
    "none": ("without a correction for the number of comparisons", ""),
}
_SEARCHES = {
    "random": ("random search", "bergstra2012random"),
    "grid": ("grid search", ""),
    "tpe": ("tree-structured Parzen estimators", "bergstra2011algorithms"),
}


@dataclass(frozen=True)
class Methods:
    """The account of one run: headings with their text, and what it cites, in that order."""

    paragraphs: list[tuple[str, str]]
    sources: list[Source]

    @property
    def bibtex(self) -> str:
        """The entries of everything that is cited."""
        return "\n\n".join(each.bibtex for each in self.sources) + "\n"


def methods(info: RunInfo) -> Methods:
    """Describe what a run did."""
    account = _Account(info)
    parts = {
        "Data": account.data(),
        "Split": account.split(),
        "Candidates": account.candidates(),
        "Metrics": account.metrics(),
        "Algorithms": account.algorithms(),
        "Tuning": account.tuning(),
        "Inference": account.inference(),
        "Computation": account.computation(),
    }
    texts = [(heading, " ".join(sentences)) for heading, sentences in parts.items()]
    return Methods([each for each in texts if each[1]], list(account.cited.values()))


def command(info: RunInfo) -> str:
    """Return the command that repeats a run."""
    path = info.config_file or f"{info.name}.yaml"
    safe = re.fullmatch(r"[\w./-]+", path)
    return f"harness run {path}" if safe else f"harness run '{plain(path)}'"


def to_yaml(info: RunInfo) -> str:
    """Return the config of a run as YAML, without defaults."""
    from ruamel.yaml import YAML

    kept = _written(info.experiment)
    if isinstance(given := info.config["dataset"][0], str):  # from Python: no config can name it
        kept["dataset"] = given
    for key in ("dataset", "split", "candidates", "seed"):
        if isinstance(kept.get(key), list) and len(kept[key]) == 1:
            kept[key] = kept[key][0]
    text = io.StringIO()
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 100
    yaml.dump(kept, text)
    return text.getvalue()


def describe_run(info: RunInfo) -> list[tuple[str, str]]:
    """Return date, versions and machine of a run, as names and values."""
    machine = info.machine
    rows = [
        ("started", info.started.replace("T", " ")),
        ("took", took([info])),
        ("system", f"{machine.system}, {machine.processor}"),
        ("cores, memory", f"{machine.cores}, {machine.memory_gb:g} GB"),
        *info.versions.items(),
        ("commit", info.commit or "not from a checkout"),
        *((f"data {each.name}", f"sha256 {each.fingerprint[:16]}…") for each in info.datasets),
    ]
    return [(plain(name), plain(value)) for name, value in rows]


def describe_cells(info: RunInfo) -> list[list[str]]:
    """Return, for each algorithm, its parameters, how it ran, and what it could not estimate.

    If a search found different parameters in different cells, all of them are listed.
    """
    by_name: dict[str, list[CellResult]] = {}
    for cell in info.finished:
        by_name.setdefault(cell.algorithm, []).append(cell)
    rows = []
    for name, cells in by_name.items():
        n_test = sum(cell.n_test for cell in cells)
        share = sum(cell.n_impossible for cell in cells) / n_test if n_test else 0.0
        ran = zip(*((_settings(c.params), c.fit_path, c.scoring_path) for c in cells), strict=True)
        rows.append([name, *("; ".join(dict.fromkeys(each)) for each in ran), f"{share:.1%}"])
    return [[plain(value) for value in row] for row in rows]


class _Account:
    """Writes the paragraphs and collects what they cite."""

    def __init__(self, info: RunInfo) -> None:
        self.info = info
        self.config = info.experiment
        self.cited: dict[str, Source] = {}

    def cite(self, *keys: str) -> str:
        """Return `` (Koren 2008)``, nothing for no key, and remember what was cited."""
        entries = [all_sources()[key] for key in dict.fromkeys(keys) if key]
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
        for section in self.config.split:
            yield plain(section.sentence("test part"))
        n_train = _span([each.n_train for each in self.info.splits])
        n_test = _span([each.n_test for each in self.info.splits])
        seeds = [str(seed) for seed in self.info.seeds]
        yield (
            f"Training parts hold {n_train} ratings, test parts {n_test}. Every random choice "
            f"derives from the seed{'s' if len(seeds) > 1 else ''} {joined(seeds)} unless it has "
            "one of its own."
        )

    def candidates(self) -> Iterator[str]:
        for section in self.config.candidates:
            yield section.sentence()
            if section.kind == "sampled":
                cited = self.cite("krichene2020sampled")
                yield f"Metrics over sampled candidates are biased{cited}."
        clip = "are clipped" if self.config.clip else "are not clipped"
        of_counts = any(map(_learns_from_counts, self.config.algorithms))
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
            formula = f"{metric.name} = {metric.definition.formula}"
            yield f"{labels}: {metric.definition.summary.rstrip('.')}{cited}, {formula}."
            if metric.name == "ndcg":
                yield _ndcg_sentence(metric)
            elif metric.chosen:
                chosen = [f"{name}={value}" for name, value in metric.chosen]
                yield f"Here with {joined(chosen)}."
        yield (
            "A table value is the mean over users of each user's average over folds and seeds; for "
            "metrics of all pairs or all lists at once, as rmse, the mean over folds and seeds."
        )

    def algorithms(self) -> Iterator[str]:
        versions = self.info.versions
        groups: dict[str, list[str]] = {}
        for row in self.config.algorithms:
            known = known_algorithms().get(folded(row.name))
            settings = [f"shown as {plain(row.label)}"] if row.title != row.name else []
            if row.params:
                settings.append(", ".join(f"{k}={_value(v)}" for k, v in row.params.items()))
            if row.search and _space(row):
                settings.append("tuned")
            shown = f" [{'; '.join(settings)}]" if settings else ""
            counts = "hu2008collaborative" if _learns_from_counts(row) else ""
            cited = self.cite(known.citation if known else "", counts)
            group = "own" if ":" in row.name else known.kind if known else "surprise"
            groups.setdefault(group, []).append(f"{plain(row.name)}{cited}{shown}")
        if "surprise" in groups:
            library = f"scikit-surprise {versions.get('scikit-surprise', '')}".strip()
            yield (
                f"Models of {library}{self.cite('hug2020surprise')}, with its defaults unless said "
                f"otherwise: {joined(groups['surprise'])}."
            )
        if "library" in groups:
            names = (each.package for each in known_algorithms().values())
            packages = [f"{name} {versions[name]}" for name in names if name in versions]
            yield f"Models fitted by {joined(packages)}: {joined(groups['library'])}."
        if "own" in groups:
            yield f"Models of other code: {joined(groups['own'])}."
        if "baseline" in groups:
            yield f"Non-personalised baselines: {joined(groups['baseline'])}."
        if self.config.accelerate:
            yield (
                "Where available, compiled implementations with equal results fitted the models "
                "and computed the estimates."
            )

    def tuning(self) -> Iterator[str]:
        tuning = self.config.tuning
        by_space: dict[str, list[str]] = {}
        for row in self.config.algorithms:
            if row.search:
                by_space.setdefault(_space_in_words(_space(row)), []).append(plain(row.title))
        fixed = by_space.pop("", [])
        if by_space:
            method, key = _SEARCHES[tuning.method]
            budget = [f"{tuning.trials:,} trials"] if tuning.trials else []
            budget += [f"{tuning.seconds:g} seconds"] if tuning.seconds else []
            searched = joined([name for names in by_space.values() for name in names])
            yield (
                f"Parameters of {searched} were tuned by {method}{self.cite(key)} for "
                f"{plain(tuning.metric)} on a validation part of the training ratings, with a "
                f"budget of {' and '.join(budget)} for each algorithm, fold and seed. The "
                "setting of the config was tried too. The best setting was fitted to the whole "
                "training part and tested once."
            )
            if trials := self._trials():
                yield f"Trials of each search: {joined(trials)}."
            spaces = [f"{joined(names)}: {space}" for space, names in by_space.items()]
            yield f"Search spaces: {'; '.join(spaces)}."
            parts: dict[str, list[str]] = {}
            for split in self.config.split:
                shown = plain(tuning.validation_of(split).sentence("validation part"))
                parts.setdefault(shown, []).append(split.kind)
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
            by_span.setdefault(_span(numbers), []).append(name)
        return [f"{span} of {joined(names)}" for span, names in by_span.items()]

    def inference(self) -> Iterator[str]:
        settings = self.config.statistics
        if not settings or not self.info.statistics:
            return
        test, test_key = _TESTS[settings.test]
        correction, correction_key = _CORRECTIONS[settings.correction]
        bca = settings.interval == "bca"
        n_resamples = settings.resamples or statistics.DEFAULT_RESAMPLES
        yield (
            f"Algorithms were compared by {test} over users{self.cite(test_key)}, {correction}"
            f"{self.cite(correction_key)} at level {1 - settings.confidence:.3g}; a user's scores "
            f"in several folds or seeds were averaged first. {100 * settings.confidence:.4g}% "
            f"intervals are {'BCa' if bca else 'percentile'} bootstrap intervals over users"
            f"{self.cite('efron1987better' if bca else '')}, from {n_resamples:,} resamples. "
            "Algorithms that share a letter are not significantly different"
            f"{self.cite('piepho2004algorithm')}."
        )
        if any(pair.p_is_bound for each in self.info.statistics for pair in each.pairs):
            how = "" if settings.resamples else self.cite("hoeffding1963probability")
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


def _written(value: Any) -> Any:
    """Return a section in short form: its kind, and keys that are not defaults."""
    if isinstance(value, BaseModel):
        kept = {
            key: _written(own)
            for key, field in type(value).model_fields.items()
            if (own := getattr(value, key)) != field.get_default(call_default_factory=True)
            or key == "kind"
        }
        return kept["name"] if set(kept) == {"name"} else kept
    if isinstance(value, list | tuple):
        return [_written(each) for each in value]
    if isinstance(value, dict):
        return {key: _written(each) for key, each in value.items()}
    return value


def _settings(params: dict[str, Any]) -> str:
    """Return parameters without the seed, which the run derives for each cell."""
    shown = [f"{key}={value!r}" for key, value in params.items() if key != "random_state"]
    return ", ".join(shown) or "defaults"


def _learns_from_counts(row: AlgorithmConfig) -> bool:
    return folded(row.name) == "implicitals" or bool(row.params.get("implicit"))


def _space(row: AlgorithmConfig) -> SearchSpace:
    """Return the search space of an algorithm; empty where nothing is searched."""
    if isinstance(row.search, dict):
        return row.search
    known = known_algorithms().get(folded(row.name))
    return known.space if known else {}


def _space_in_words(space: SearchSpace) -> str:
    """Return, for example, ``k from 5 and 10, lr_all from 0.001 to 0.1 (logarithmic)``."""
    parts = []
    for name, values in space.items():
        if isinstance(values, Range):
            log = " (logarithmic)" if values.log else ""
            parts.append(f"{name} from {values.low:g} to {values.high:g}{log}")
        else:
            word = "from " if len(values) > 1 else ""
            parts.append(f"{name} {word}{joined([str(value) for value in values])}")
    return plain(", ".join(parts))


def _span(sizes: Sequence[int]) -> str:
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_value(each)}" for key, each in value.items()) + "}"
    return plain(value)


def _ndcg_sentence(metric: metrics.Metric) -> str:
    """Return gain, discount, ties and empty users of an nDCG, as it is computed."""
    params = metric.params
    gain = params["gain"]
    formula = {
        "exp2": "2^rel − 1",
        "linear": "rel",
        "table": f"{gain}",
        "binary": f"1 from relevance {gain.numbers[0]:g} on" if gain.numbers else "1 or 0",
    }[gain.word]
    base = str(params["base"])
    log = "ln" if base == "e" else f"log{base}"
    discounts = {"jarvelin": f"max(1, {log}(i))", "reciprocal": "i", "none": "1"}
    discount = discounts.get(str(params["discount"]), f"{log}(i + 1)")
    orders = {"first": "input", "last": "reversed input", "best": "the best", "worst": "the worst"}
    order = orders.get(params["ties"].word, "random")
    average = "the mean over all orders of equal estimates"
    ties = average if params["ties"] == "average" else f"equal estimates in {order} order"
    undefined = str(params["undefined"])
    empty = "left out of the mean" if undefined == "nan" else f"counted as {undefined}"
    said = ("gain", "base", "discount", "ties", "undefined")
    others = [f"{name}={value}" for name, value in metric.chosen if name not in said]
    also = f" Also {joined(others)}." if others else ""
    return (
        f"There dcg@k = sum over ranks i ≤ k of gain / {discount} with gain {formula}, rel the "
        f"true rating; idcg@k is that of the best order; the value is {ties}; users without a "
        f"relevant item are {empty}.{also}"
    )
