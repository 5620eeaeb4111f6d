"""A best row that is one of several settings, chosen by the ratings that it is measured on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness._util.libraries import pd
from harness.config.experiment import settings_of_one
from harness.extras.audit.search import AuditSearch
from harness.results.record import RunInfo


def of_table(
    search: AuditSearch, info: RunInfo, rows: pd.DataFrame, where: Mapping[str, Any]
) -> None:
    """Compare the best row with the mean of the settings of its algorithm, if it is one of them."""
    best = rows.iloc[-1]
    for algorithm, titles in settings_of_one(info.experiment).items():
        values = rows.loc[rows["algorithm"].isin(titles), search.label]
        if best["algorithm"] in titles and len(values) > 1:
            ends = {"best setting": float(best[search.label]), "mean of all": float(values.mean())}
            said = {"algorithm": algorithm, "n_settings": len(values)}
            search.found("chosen-on-test.run", {search.label: ends}, **said, **where)
