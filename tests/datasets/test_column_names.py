"""The headers of the public data sets of the field name their columns."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from harness.datasets.columns import RATINGS, find_columns, usual_names

HEADERS = {
    "MovieLens": "userId,movieId,rating,timestamp",
    "Book-Crossing": "User-ID,ISBN,Book-Rating",
    "Anime Recommendations": "user_id,anime_id,rating",
    "Goodreads interactions": "user_id,book_id,rating",
    "Goodbooks": "user_id,book_id,rating",
    "Amazon 2014": "reviewerID,asin,overall,unixReviewTime",
    "Amazon 2018": "reviewerID,asin,overall,reviewTime",
    "Amazon 2023": "user_id,parent_asin,rating,timestamp",
    "Amazon customer reviews": "customer_id,product_id,star_rating,review_date",
    "SNAP Amazon": "review/userId,product/productId,review/score,review/time",
    "BeerAdvocate": "review_profilename,beer_beerid,review_overall,review_time",
    "Yelp": "user_id,business_id,stars,date",
    "Google Local": "user_id,gmap_id,rating,time",
    "Google Local 2018": "gPlusUserId,gPlusPlaceId,rating,unixReviewTime",
    "Food.com": "user_id,recipe_id,rating,date",
    "Restaurants (UCI)": "userID,placeID,rating",
    "BoardGameGeek": "user,bgg_id,rating",
    "RecBole": "user_id:token,item_id:token,rating:float,timestamp:float",
    "Steam": "steam_id,app_id,rating",
}


@pytest.mark.parametrize("header", [*HEADERS.values()], ids=[*HEADERS])
def test_public_headers_are_known_in_any_order(header):
    names = header.split(",")
    for order in (names, names[::-1]):
        positions = find_columns(order, {}, "a.csv")
        found = [order[positions[role]] for role in RATINGS.kinds if role in positions]
        assert found == names


def test_each_name_is_written_once_and_as_it_is_compared():
    text = files("harness.datasets").joinpath("columns.toml").read_text(encoding="utf-8")
    names = [name for entry in tomllib.loads(text).values() for name in entry["names"]]
    assert len(names) == len({*names})
    for role, usual in usual_names().items():
        for name in usual:
            assert RATINGS.positions([name], role) == [0]


def test_the_first_in_the_table_counts():
    names = ["date", "unixReviewTime", "asin", "title", "overall", "reviewerID"]
    assert find_columns(names, {}, "a.csv")["timestamp"] == 1
