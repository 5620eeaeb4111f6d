"""The algorithms that average deviations: from means, in units of spread, from baselines."""

from __future__ import annotations

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.base import MEAN_AND_BIAS
from harness.algorithms.compiled import baseline_only
from harness.algorithms.compiled.knn.models import SPACE, KNNBasic
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, Lists


class KNNWithMeans(KNNBasic):
    """The mean of x plus its neighbours' deviations from theirs."""

    model_class = surprise.KNNWithMeans
    summary = "KNNBasic on ratings less each neighbour's mean"
    style = ("orange", "v", "--", False)
    too_few = 0.0

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
        model.means = x_lists.means()

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        attributes = super().fold_in(model, trainset)
        if "raters" in attributes:
            means = np.concatenate([trainset.by_user.means(), model.means])
            attributes["means"] = means
        return attributes

    def centred(self, y_lists: Lists) -> Floats:
        centred: Floats = y_lists.ratings - self.model.means[y_lists.ids]
        return centred

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        means += self.model.means[self.model.switch(users, items)[0]]
        return means


class KNNWithZScore(KNNWithMeans):
    """The same with deviations in units of each x's own spread."""

    model_class = surprise.KNNWithZScore
    summary = "KNNBasic on ratings standardised by each neighbour"
    style = ("red", "<", "--", False)

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
        model.means = x_lists.means()
        sigmas = spreads_of(x_lists, model.means)
        model.overall_sigma = np.std(trainset.by_user.ratings)
        model.sigmas = np.where(sigmas == 0.0, model.overall_sigma, sigmas)

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        attributes = super().fold_in(model, trainset)
        if "raters" in attributes:
            sigmas = spreads_of(trainset.by_user, trainset.by_user.means())
            of_new = np.where(sigmas == 0.0, model.overall_sigma, sigmas)
            attributes["sigmas"] = np.concatenate([of_new, model.sigmas])
        return attributes

    def spread_of_x(self) -> Floats:
        spreads: Floats = self.model.sigmas
        return spreads

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        means *= self.model.sigmas[self.model.switch(users, items)[0]]
        return super().complete(means, users, items)


def spreads_of(lists: Lists, means: Floats) -> Floats:
    """Return the standard deviation of each list, of which these are the means."""
    squares = (lists.ratings - np.repeat(means, np.diff(lists.offsets))) ** 2
    spreads: Floats = np.sqrt(lists._replace(ratings=squares).means())
    return spreads


class KNNBaseline(KNNBasic):
    """The baseline estimate plus the neighbours' deviations from theirs."""

    model_class = surprise.KNNBaseline
    summary = "KNNBasic on ratings less a baseline estimate"
    unknown_user = MEAN_AND_BIAS
    citation = "koren2010factor"
    style = ("red", ">", "-", True)
    space = SPACE | baseline_only.SPACE
    too_few = unknown = 0.0

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
        model.bu, model.bi = baseline_only.fit_baselines(model.bsl_options, trainset)
        model.bx, model.by = model.switch(model.bu, model.bi)

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        attributes = super().fold_in(model, trainset)
        if "raters" in attributes:
            return attributes | {"bx": attributes["bu"]}
        bu = baseline_only.fold_in_biases(model.bsl_options, model.bi, trainset)
        return attributes | {"bu": bu, "by": bu}

    def centred(self, y_lists: Lists) -> Floats:
        by = np.repeat(self.model.by, np.diff(y_lists.offsets))
        baselines = self.trainset.global_mean + self.model.bx[y_lists.ids] + by
        centred: Floats = y_lists.ratings - baselines
        return centred

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        means += self.baselines(users, items)
        return means
