"""True ratings that are one filled-in number, as of an anti-test set."""

from __future__ import annotations

from harness._util.libraries import pd
from harness.extras.audit.search import RMSE, AuditSearch
from harness.metrics.arrays import filled_rating


def of_predictions(search: AuditSearch, rows: pd.DataFrame) -> None:
    """Search for ratings that are all one number that nobody gives, as the mean of others."""
    ratings = rows["rating"].to_numpy()
    if (number := filled_rating(ratings)) is not None:
        before = search.scores(rows)[str(RMSE)]
        effect = {str(RMSE): {"as it is": before, "without the problem": None}}
        search.found("filled-ratings.one", effect, rating=number, n=len(ratings))
