"""True ratings that are one filled-in number, as of an anti-test set."""

from __future__ import annotations

from harness.extras.audit.search import RMSE, Search
from harness.lazy import pd


def of_predictions(search: Search, rows: pd.DataFrame) -> None:
    """Search for ratings that are all one number that nobody gives, as the mean of others."""
    ratings = rows["rating"].to_numpy()
    number = float(ratings[0])
    if len(ratings) > 1 and (ratings == number).all() and not (2 * number).is_integer():
        before = search.scores(rows)[str(RMSE)]
        effect = {str(RMSE): {"as it is": before, "without the fault": None}}
        search.found("filled-ratings.one", effect, rating=number, n=len(ratings))
