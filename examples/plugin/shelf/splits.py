"""A kind of split: its fields are keys of a config."""

from typing import Annotated

from pydantic import Field

import harness


class Weekday(harness.Split):
    """Ratings of one day of the week are the test part."""

    day: Annotated[int, Field(ge=0, le=6)] = 6
    """0 for Monday to 6 for Sunday, in UTC."""

    def divide(self, ratings, rng):
        """Yield the training and the test part of each fold, as masks or rows."""
        test = (ratings.timestamps // 86_400 + 3) % 7 == self.day  # 1970 began on a Thursday
        yield ~test, test
