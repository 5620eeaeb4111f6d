"""How a run was made: methods in sentences for a paper, their sources, and how to repeat it.

The sentences are in `assets/methods.txt`, the literature in `assets/sources.bib` and the catalogue
of data sets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial

from harness import metrics, statistics
from harness.comparison.best import NOT_PERSONALISED
from harness.config.experiment import AlgorithmConfig, Experiment, Inference, settings_of_one
from harness.config.yaml import as_yaml
from harness.datasets.catalogue import CATALOGUE
from harness.errors import joined
from harness.plugins.registry import folded
from harness.report.styles import KnownAlgorithm, known_algorithms
from harness.report.summary import ASSETS, templates
from harness.results.cells import OUTSIDE, grouped, measured
from harness.results.reading import took
from harness.results.record import RunInfo
from harness.results.table import escape_latex, escape_markdown, printable
from harness.schema.sections import Range, SearchSpace
from harness.statistics.corrections import CORRECTIONS


@dataclass(frozen=True)
class Citation:
    """One entry: its BibTeX as the file has it, and its fields as text without TeX."""

    key: str
    bibtex: str
    fields: dict[str, str]

    @property
    def authors(self) -> list[str]:
        """The authors, given name first."""
        return self.fields["author"].split(" and ")

    @property
    def surnames(self) -> list[str]:
        """The authors' surnames, with what belongs to them, such as ``van``."""
        return [re.sub(r"^.*?(?=(\b[a-z]\S* )|\S+$)", "", author) for author in self.authors]

    @property
    def link(self) -> str:
        """Address of the DOI, or where there is none any other; may be empty."""
        doi = self.fields.get("doi")
        return f"https://doi.org/{doi}" if doi else self.fields.get("url", "")

    @property
    def venue(self) -> str:
        """Journal, proceedings or publisher, with volume and pages."""
        named = (self.fields.get(name) for name in ("journal", "booktitle", "publisher"))
        number = f"({self.fields['number']})" if "number" in self.fields else ""
        volume = self.fields.get("volume", "") + number
        where = " ".join(part for part in (next(filter(None, named)), volume) if part)
        pages = self.fields.get("pages", "").replace("--", "–")
        return f"{where}, {pages}" if pages else where

    @property
    def cite(self) -> str:
        """Authors and year, as a text cites them: `Burges et al. 2005`."""
        first, *rest = self.surnames
        shown = f"{first} et al." if len(rest) > 1 else " and ".join([first, *rest])
        return f"{shown} {self.fields['year']}"

    @property
    def reference(self) -> str:
        """The entry as a line of a list of references."""
        title = self.fields["title"]
        stop = "" if title.endswith("?") else "."
        return f"{joined(self.authors)}. {self.fields['year']}. {title}{stop} {self.venue}."


@cache
def all_sources() -> dict[str, Citation]:
    """Return every entry by its key."""
    sources = {}
    of_data = [data.bibtex for data in CATALOGUE.values() if data.bibtex]
    every = "\n\n".join([(ASSETS / "sources.bib").read_text(encoding="utf-8"), *of_data])
    for text in re.findall(r"^@.*?^\}", every, re.M | re.S):
        key = text[text.index("{") + 1 : text.index(",")]
        fields = re.findall(r"^  (\w+) = \{(.*)\},?$", text, re.M)
        sources[key] = Citation(key, text, {name: _without_tex(value) for name, value in fields})
    return sources


def _without_tex(text: str) -> str:
    accents = {'"': "\u0308", "'": "\u0301", "v": "\u030c", "`": "\u0300"}
    text = re.sub(r"\{\\([\"'`v])\{?(\w)\}?\}", lambda m: m[2] + accents[m[1]], text)
    return unicodedata.normalize("NFC", text).replace("{", "").replace("}", "")


def cited_in(text: str) -> list[str]:
    """Return the keys of what a text cites, by DOI or by the first surname and the year."""
    places = {}
    for key, entry in all_sources().items():
        named = rf"\b{re.escape(entry.surnames[0])}\b[^;.]{{0,40}}?\b{entry.fields['year']}\b"
        doi = re.escape(entry.fields.get("doi", "doi:")) + r"(?![\w/])"
        if match := re.search(doi, text) or re.search(named, text):
            places[key] = match.start()
    return sorted(places, key=lambda key: places[key])


@dataclass(frozen=True)
class Methods:
    """The account of one run: headings with their text, and what it cites, in that order."""

    paragraphs: list[tuple[str, str]]
    """Heading and text; what stands between backticks is code."""
    sources: list[Citation]
    cited: dict[str, list[str]]
    """The keys of the sources of each citation, as the texts have it."""

    @property
    def bibtex(self) -> str:
        """The entries of everything that is cited."""
        return "\n\n".join(source.bibtex for source in self.sources) + "\n"


def methods(info: RunInfo) -> Methods:
    """Describe what a run did."""
    config = info.experiment
    cited: dict[str, Citation] = {}
    texts_of: dict[str, list[str]] = {}

    def cite(*keys: str) -> str:
        entries = [all_sources()[key] for key in dict.fromkeys(keys) if key]
        cited.update({entry.key: entry for entry in entries})
        if not entries:
            return ""
        text = f" ({'; '.join(entry.cite for entry in entries)})"
        texts_of[text] = [entry.key for entry in entries]
        return text

    def kind(row: AlgorithmConfig) -> str:
        algorithm = _known(row)
        return "own" if ":" in row.name else algorithm.kind if algorithm else "surprise"

    def algorithms() -> Iterator[tuple[str, str]]:
        for row in config.algorithms:
            algorithm = _known(row)
            settings = [f"shown as {printable(row.label)}"] if row.title != row.name else []
            if row.params:
                settings.append(", ".join(f"{k}={_value(v)}" for k, v in row.params.items()))
            if row.search and _space(row, info):
                settings.append("tuned")
            counts = "hu2008collaborative" if _of_counts(row) else ""
            shown = f" [{'; '.join(settings)}]" if settings else ""
            sources = cite(algorithm.citation if algorithm else "", counts)
            yield kind(row), f"{printable(row.name)}{sources}{shown}"

    _, test = (config.statistics or Inference()).about(len(info.seeds))
    if test in statistics.SEED_TESTS and all(each.claim == "models" for each in info.statistics):
        test = "randomisation"  # tables had too few folds and seeds
    parsed = map(metrics.parse, info.metrics)
    families = grouped(((metric.name, metric.chosen), metric) for metric in parsed)
    libraries = (each.package for each in known_algorithms().values())
    estimated = [cell for cell in info.finished if cell.fit_path != OUTSIDE]
    n_test = sum(cell.n_test for cell in estimated)
    compared = [len(each.pairs) for each in info.statistics]
    values = {
        "n_impossible": sum(cell.n_impossible for cell in estimated),
        "n_test": n_test,
        "unknown": [*zip(*(each.unknown for each in info.splits if each.unknown), strict=True)],
        "n_compared": _span(compared) if compared else "",
        "catalogue": CATALOGUE,
        "cited_in": cited_in,
        "corrections": CORRECTIONS,
        "default_resamples": statistics.DEFAULT_RESAMPLES,
        "many_users": statistics.MANY_USERS,
        "fewest_effective": statistics.FEWEST_EFFECTIVE,
        "fewest_for_interval": statistics.FEWEST_FOR_INTERVAL,
        "chosen_test": test,
        "span": _span,
        "share": partial(_span, form="{:.1%}"),
        "preferences": any(_of_counts(row) or kind(row) == "top-n" for row in config.algorithms),
        "info": info,
        "config": config,
        "cite": cite,
        "families": families.values(),
        "algorithm_groups": lambda: grouped(algorithms()),
        "unknown_users": grouped(
            (algorithm.unknown_user, printable(row.title))
            for row in config.algorithms
            if (algorithm := _known(row)) and any(cell.n_unknown_users for cell in info.finished)
        ),
        "packages": [f"{x} {info.versions[x]}" for x in libraries if x in info.versions],
        "outside": list(
            dict.fromkeys(printable(c.algorithm) for c in info.finished if c.fit_path == OUTSIDE)
        ),
        "conditions": "; ".join(measured(info.cells)),
    }
    template = templates().get_template("methods.txt")
    paragraphs = vars(template.make_module(values | _searches(info, config)))["paragraphs"]
    texts = [(heading, " ".join(text.split())) for heading, text in paragraphs.items()]
    return Methods([each for each in texts if each[1]], [*cited.values()], texts_of)


def to_markdown(info: RunInfo) -> str:
    """Return the methods of a run as Markdown, with the references and their BibTeX."""
    account = methods(info)
    parts = [f"# Methods of {escape_markdown(info.name)}"]
    for heading, text in account.paragraphs:
        parts += [f"## {heading}", in_markdown(text)]
    parts += ["## References", "\n".join(f"- {source.reference}" for source in account.sources)]
    return "\n\n".join([*parts, f"```bibtex\n{account.bibtex}```"]) + "\n"


def to_latex(info: RunInfo) -> str:
    """Return the methods of a run as LaTeX: a paragraph for each heading, with references.

    It needs ``fontenc`` with ``T1`` for letters beyond ASCII. The bibliography is complete; to use
    a paper's bibliography in its place, take the BibTeX of the Markdown form, which has the same
    keys.
    """
    account = methods(info)
    lines = [f"% Methods of {printable(info.name)}; needs \\usepackage[T1]{{fontenc}}"]
    for heading, text in account.paragraphs:
        shown = _in_parts(text, escape_latex, lambda code: rf"\texttt{{{escape_latex(code)}}}")
        for cited, keys in account.cited.items():
            mark = escape_latex(cited.strip())
            shown = shown.replace(f" {mark}", rf"~\cite{{{','.join(keys)}}}")
        lines.append(rf"\paragraph{{{escape_latex(heading)}.}} {shown}")
    lines.append(rf"\begin{{thebibliography}}{{{len(account.sources)}}}")
    lines += [rf"\bibitem{{{own.key}}} {escape_latex(own.reference)}" for own in account.sources]
    return "\n\n".join([*lines, r"\end{thebibliography}"]) + "\n"


def in_markdown(text: str) -> str:
    r"""Return a text of `Methods` as Markdown, its code as it is.

    >>> print(in_markdown("a_b, `c = |R|**2`"))
    a\_b, `c = |R|**2`
    """
    return _in_parts(text, escape_markdown, "`{}`".format)


def _in_parts(text: str, escape: Callable[[str], str], code: Callable[[str], str]) -> str:
    """Return a text escaped, with its code as `code` writes it; white space at ends is kept."""
    shown = []
    for number, part in enumerate(re.split(r"`([^`]+)`", text)):
        words = part.strip()
        before, _, after = part.partition(words) if words else (part, "", "")
        shown.append(code(part) if number % 2 else f"{before}{escape(words)}{after}")
    return "".join(shown)


def checklist(info: RunInfo) -> str:
    """Return what reviewers ask, with the answers of a run, as Markdown."""
    rows = {printable(row.title): row for row in info.experiment.algorithms}
    entries = {name: _known(row) for name, row in rows.items()}
    tunable = [name for name, each in entries.items() if rows[name].search or (each and each.space)]
    untuned = [name for name in tunable if not rows[name].search]
    data = [(each, CATALOGUE.get(each.source)) for each in info.datasets]
    packages = {name: (version, info.packages.get(name)) for name, version in info.versions.items()}
    template = templates().get_template("checklist.md")
    text = template.render(
        info=info,
        md=in_markdown,
        said=dict(methods(info).paragraphs),
        command=command(info),
        fingerprints=[f"{each.name}: sha256 {each.fingerprint}" for each, _ in data],
        sources=[f"{entry.title}, licence: {entry.licence}" for _, entry in data if entry],
        split_notes=dict.fromkeys(note for each in info.splits for note in each.notes),
        simple=[name for name, row in rows.items() if folded(row.name) in NOT_PERSONALISED],
        alike=f"no: {joined(untuned)} as the config has them" if untuned else tunable and "yes",
        chosen_on_test="; ".join(
            f"yes, if the best of {joined(titles)} is reported; `search:` avoids it"
            for titles in settings_of_one(info.experiment).values()
        )
        or "no: no algorithm has several settings as rows",
        repeated=len({(cell.seed, cell.fold) for cell in info.cells}),
        packages=[
            f"{name} {version}{f' (sha256 {digest[:16]}…)' if digest else ''}"
            for name, (version, digest) in packages.items()
        ],
    )
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def _searches(info: RunInfo, config: Experiment) -> dict[str, object]:
    """Return who was tuned in which space, how often, and how each split was validated."""
    spaces = grouped(
        (_space_in_words(_space(row, info)), printable(row.title))
        for row in config.algorithms
        if row.search
    )
    trials = grouped((printable(c.algorithm), c.n_trials) for c in info.cells if c.n_trials)
    trials_of = grouped((_span(numbers), name) for name, numbers in trials.items())
    validation = grouped(
        (printable(config.tuning.validation_of(split).sentence("validation set")), split.kind)
        for split in config.split
    )
    return {
        "not_tuned": spaces.pop("", []),
        "tuned": [name for names in spaces.values() for name in names],
        "spaces": [(joined(names), space) for space, names in spaces.items()],
        "trials": [(span, joined(names)) for span, names in trials_of.items()],
        "validation": validation,
    }


def command(info: RunInfo) -> str:
    """Return the command that repeats a run."""
    path = info.config_file or f"{info.name}.yaml"
    if re.fullmatch(r"[\w./-]+", path):
        return f"harness run {path}"
    quoted = printable(path).replace(
        "'", "'\\''"
    )  # else it could end the quotes and begin a command
    return f"harness run '{quoted}'"


def to_yaml(info: RunInfo) -> str:
    """Return the config of a run as YAML, without defaults."""
    stated = info.experiment.stated()
    for key in ("dataset", "algorithms"):
        stated[key] = [entry["name"] if [*entry] == ["name"] else entry for entry in stated[key]]
    if isinstance(name := info.config["dataset"][0], str):  # from Python: no config can name it
        stated["dataset"] = name
    for key in ("dataset", "split", "candidates", "seed"):
        if isinstance(stated.get(key), list) and len(stated[key]) == 1:
            stated[key] = stated[key][0]
    return as_yaml(stated)


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
        *((f"data {data.name}", f"sha256 {data.fingerprint[:16]}…") for data in info.datasets),
    ]
    return [(printable(name), printable(value)) for name, value in rows]


def describe_cells(info: RunInfo) -> list[list[str]]:
    """Return, for each algorithm, its parameters, how it ran, and what it could not estimate.

    If a search found different parameters in different cells, all of them are listed.
    """
    rows = []
    for name, cells in grouped((cell.algorithm, cell) for cell in info.finished).items():
        n_test = sum(cell.n_test for cell in cells)
        share = sum(cell.n_impossible for cell in cells) / n_test if n_test else 0.0
        ran = zip(*((_settings(c.params), c.fit_path, c.scoring_path) for c in cells), strict=True)
        rows.append([name, *("; ".join(dict.fromkeys(cells)) for cells in ran), f"{share:.1%}"])
    return [[printable(value) for value in row] for row in rows]


def _settings(params: dict[str, object]) -> str:
    """Return parameters without the seed, which the run derives for each cell."""
    shown = [f"{key}={value!r}" for key, value in params.items() if key != "random_state"]
    return ", ".join(shown) or "defaults"


def _of_counts(row: AlgorithmConfig) -> bool:
    """Return whether an algorithm learns preferences from counts, which have no scale."""
    return folded(row.name) == "implicitals" or bool(row.params.get("implicit"))


def _space(row: AlgorithmConfig, info: RunInfo) -> SearchSpace:
    """Return the search space of an algorithm; in older records a recommended one is today's."""
    algorithm = _known(row)
    if row.title in info.spaces or isinstance(row.search, dict):
        return info.spaces.get(row.title, row.search)  # type: ignore[arg-type, return-value]
    return algorithm.space if algorithm else {}


def _known(row: AlgorithmConfig) -> KnownAlgorithm | None:
    """Return the entry of an algorithm; None for your own class."""
    return known_algorithms().get(folded(row.name))


def _space_in_words(space: SearchSpace) -> str:
    """Return, for example, ``k from 5 and 10, lr_all from 0.001 to 0.1 (logarithmic)``."""
    parts = []
    for name, values in space.items():
        if isinstance(values, Range):
            log = " (logarithmic)" if values.log else ""
            parts.append(f"{name} from {values.low:g} to {values.high:g}{log}")
        else:
            word = "from " if len(values) > 1 else ""
            parts.append(f"{name} {word}{joined(values)}")
    return printable(", ".join(parts))


def _span(values: Iterable[float], form: str = "{:,}") -> str:
    """Return the least and the greatest value, or the one that they are."""
    low, *_, high = (form.format(number) for number in sorted([*values] * 2))
    return low if low == high else f"{low} to {high}"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_value(part)}" for key, part in value.items()) + "}"
    return printable(value)
