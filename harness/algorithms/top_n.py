"""Models made for top-N lists: EASE, PureSVD, and neighbours of users or items by what was rated.

They learn which items a user rated, not how an item was liked, so that an estimate is a score on a
its own scale: it orders items and is not a rating. All are `surprise.AlgoBase` classes, without
random numbers. Linear algebra runs on one thread: its sums do not depend on how many there are.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any

import numpy as np

from harness._util.kernels import each_block, kernel, n_threads
from harness._util.libraries import scipy
from harness.algorithms import surprise
from harness.algorithms.base import DOUBLE, Algorithm, Counts, Estimates, Size, Work
from harness.algorithms.compiled.matrix import each_row
from harness.algorithms.compiled.svd import FactorModel
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import Bools, Codes, ColumnTrainset, Floats, Offsets
from harness.errors import AlgorithmError
from harness.schema.sections import log_range

AT_ONCE = 256  # users whose scores are computed at a time
COMPARED = 32  # rows of similarities that a thread computes at a time
USERS_A_THREAD = 32
SPARSE = 12  # bytes of a number in a sparse matrix: a double and a column
Sparse = Any  # SciPy's ``csr_array``; the module is not imported before a fit


class Preferring(surprise.AlgoBase):  # type: ignore[misc]
    """Estimates that may be preferences: no ratings, not clipped, and 0 where there is none."""

    is_preference = True  # whether estimates are preferences instead of ratings

    def default_prediction(self) -> float:
        """Return 0."""
        return 0.0

    def predict(self, *args: object, clip: bool = True, **named: object) -> surprise.Prediction:
        """Return Surprise's prediction; a preference is not clipped to the scale of the ratings."""
        return super().predict(*args, clip=clip and not self.is_preference, **named)


class TopN(Preferring):
    """Scores of all items at once; impossible for a user or an item without training ratings."""

    binary = True  # whether a rating counts as 1, whatever its value

    def fit(self, trainset: surprise.Trainset) -> TopN:
        """Learn from the matrix of users and items."""
        import scipy.linalg  # noqa: F401 - a limit reaches only the libraries that are loaded
        from threadpoolctl import threadpool_limits

        super().fit(ColumnTrainset.from_surprise(trainset))
        with threadpool_limits(1, "blas"):
            self.learn(self.rated(slice(None)))
        return self

    @abstractmethod
    def learn(self, matrix: Sparse) -> None:
        """Learn from what was rated, shape (n_users, n_items)."""

    def scores(self, users: Codes) -> Floats:
        """Return the score of each item for some inner users, shape (n, n_items)."""
        scores: Floats = self.rated(users) @ self.weights
        return scores

    def rated(self, users: Codes | slice) -> Sparse:
        """Return what some inner users rated, 1 or the rating, shape (n, n_items)."""
        rows = self.trainset.matrix[users]
        if self.binary:
            rows.data = np.ones_like(rows.data)
        return rows

    def estimate(self, u: int | str, i: int | str) -> float:
        """Return the score of a user and an item."""
        if isinstance(u, str) or isinstance(i, str):
            raise surprise.PredictionImpossible("User and/or item is unknown.")
        return float(self.scores(np.array([u]))[0, i])


class TopNEntry(Algorithm):
    """Scores for whole blocks, a row of all items for each user."""

    kind = "top-n"
    unknown_user = "0 for every item"
    score_methods = (*Algorithm.score_methods, "scores", "rated")

    @classmethod
    def gives_preferences(cls, params: Params) -> bool:
        return True

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        estimates, impossible = np.zeros(len(users)), (users < 0) | (items < 0)
        return self._fill(estimates, users, items, ~impossible), impossible

    def rows(self, users: Codes) -> Estimates:
        estimates = np.zeros((len(users), self.trainset.n_items))
        return self._fill(estimates, users, None, users >= 0), users[:, None] < 0

    def _fill(self, out: Floats, users: Codes, items: Codes | None, is_known: Bools) -> Floats:
        """Write scores of some users, each with an item or with all."""
        known_rows = np.flatnonzero(is_known)

        def fill(distinct: Codes, rows: Codes, places: Offsets) -> None:
            scores, at = self.model.scores(distinct), known_rows[places]
            out[at] = scores[rows] if items is None else scores[rows, items[at]]

        each_row(users[known_rows], AT_ONCE, USERS_A_THREAD, fill)
        return out


class EASE(TopN):
    """Item weights in closed form: an autoencoder without a hidden layer.

    It minimises ``|X - X B|² + reg |B|²`` with ``diag(B) = 0``, over the matrix X of users and
    items, 1 where there is a rating or, with ``binary: false``, the rating, else 0:
    ``B_ij = -P_ij / P_jj`` with ``P = (XᵀX + reg I)⁻¹`` (Steck 2019, doi:10.1145/3308558.3313710).
    The score is the user's row of ``X B``.
    """

    def __init__(self, reg: float = 500.0, binary: bool = True) -> None:
        super().__init__()
        self.reg, self.binary = reg, binary

    def learn(self, matrix: Sparse) -> None:
        """Compute P, up to a factor that cancels out; all in place, as it may be large."""
        by_item = matrix.T.tocsr()
        if matrix.shape[0] < matrix.shape[1]:
            # With fewer users than items, reg P = I - Xᵀ (X Xᵀ + reg I)⁻¹ X (Woodbury).
            half = by_item @ self._inverse(matrix @ by_item)
            weights: Floats = by_item @ np.ascontiguousarray(half.T)
            np.fill_diagonal(weights, weights.diagonal() - 1.0)
        else:
            weights = self._inverse(by_item @ matrix)
        weights /= -weights.diagonal()
        np.fill_diagonal(weights, 0.0)
        self.weights = weights

    def _inverse(self, gram: Sparse) -> Floats:
        """Return ``(gram + reg I)⁻¹`` by Cholesky's decomposition."""
        lapack, dense = scipy.linalg.lapack, gram.toarray()
        np.fill_diagonal(dense, dense.diagonal() + self.reg)
        triangle, wrong = lapack.dpotrf(dense.T, overwrite_a=True)
        if wrong or not self.reg:
            raise AlgorithmError(f"EASE: no inverse exists with reg {self.reg:g}; raise reg")
        triangle = np.triu(lapack.dpotri(triangle, overwrite_c=True)[0])
        inverse: Floats = (triangle + np.triu(triangle, 1).T).T  # row by row in memory
        return inverse


class EASEEntry(TopNEntry):
    """A dense matrix of items."""

    model_class = EASE
    summary = "item weights in closed form, an autoencoder without hidden layer; for top-N lists"
    citation = "steck2019embarrassingly"
    style = ("pink", "o", "-", True)
    space = {"reg": log_range(1.0, 10_000.0)}
    items_alone = True

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        n, inverted = counts.n_items, min(counts.n_users, counts.n_items)
        products = counts.of_users if n <= counts.n_users else counts.of_items
        fit = 3.0 * float(products @ products) + 0.08 * inverted**3 + 15.0 * inverted**2
        if inverted < n:  # the inverse becomes one of items
            fit += 0.5 * counts.n_ratings * (inverted + n) + 10.0 * n * inverted
        rated = counts.n_ratings / max(1, counts.n_users)
        return Work(fit + 8.0 * n * n, counts.n_scored * n * (2.0 + 0.5 * rated))

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        inverted = min(size.n_users, size.n_items)
        return DOUBLE * size.n_items * (size.n_items + 3 * inverted) + 4 * SPARSE * size.n_ratings


class PureSVD(TopN):
    """Truncated singular value decomposition, a missing rating counted as 0.

    With ``X ≈ U S Vᵀ``, the score is the user's row of ``X V Vᵀ`` (Cremonesi, Koren and Turrin
    2010, doi:10.1145/1864708.1864721). X holds the ratings or, with ``binary``, 1 for each.
    Vectors are in the order of their singular values; the largest part of each of V is positive.
    """

    def __init__(self, n_factors: int = 50, binary: bool = False) -> None:
        super().__init__()
        self.n_factors, self.binary = n_factors, binary

    def learn(self, matrix: Sparse) -> None:
        """Find the largest singular values by Lanczos iterations, or all by a dense method."""
        least = min(matrix.shape)
        if self.n_factors < least:
            begin = np.random.default_rng(0).standard_normal(least)
            _, values, vectors = scipy.sparse.linalg.svds(matrix, self.n_factors, v0=begin)
            vectors = vectors[np.argsort(-values)]
        else:
            vectors = np.linalg.svd(matrix.toarray(), full_matrices=False)[2]
        largest = np.abs(vectors).argmax(axis=1)[:, None]
        self.qi = np.zeros((matrix.shape[1], self.n_factors))
        self.qi[:, :least] = (vectors * np.sign(np.take_along_axis(vectors, largest, 1))).T
        self.pu: Floats = matrix @ self.qi

    def scores(self, users: Codes) -> Floats:
        """Return the products of factors."""
        scores: Floats = self.pu[users] @ self.qi.T
        return scores


class PureSVDEntry(FactorModel, TopNEntry):
    """Products of factors."""

    model_class = PureSVD
    summary = "truncated singular value decomposition with missing ratings as 0; for top-N lists"
    citation = "cremonesi2010performance"
    style = ("blue", "^", "-.", True)
    space = {"n_factors": log_range(4, 256)}

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        n_factors = cls.count(params, "n_factors")
        sides = counts.n_users + counts.n_items
        fit = n_factors * (20.0 * counts.n_ratings + 10.0 * n_factors * sides)
        return Work(fit, cls.products(params, counts))

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        factors = cls.count(params, "n_factors") * (size.n_users + size.n_items)
        return 4 * DOUBLE * factors + 2 * SPARSE * size.n_ratings

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        of_new = copy.copy(model)
        of_new.trainset = trainset
        return {"pu": of_new.rated(slice(None)) @ model.qi}


class BinaryKNN(TopN):
    """What both have in common: cosine similarity of which pairs were rated.

    ``s = n_xy / (√(n_x n_y) + shrinkage)`` with the number of ratings that x and y have in common
    and each has. The `k` most similar of each are kept; of equally similar ones those that come
    first in training.
    """

    def __init__(self, k: int = 100, shrinkage: float = 0.0) -> None:
        super().__init__()
        self.k, self.shrinkage = k, shrinkage

    def most_similar(self, matrix: Sparse) -> Sparse:
        """Return the similarity of each row to its most similar rows, shape (n, n)."""
        n, other_way = matrix.shape[0], matrix.T.tocsr()
        lengths = np.sqrt(np.diff(matrix.indptr))
        lists = matrix.indptr, matrix.indices, other_way.indptr, other_way.indices
        blocks: dict[int, Sparse] = {}

        def compare(first: int, last: int) -> None:
            for start in range(first * COMPARED, last * COMPARED, COMPARED):
                rows = np.arange(start, min(start + COMPARED, n))
                common = np.zeros((len(rows), n), np.int32)
                _count_common(start, *lists, common)
                similar = common / (lengths[rows, None] * lengths + self.shrinkage)
                similar[rows - start, rows] = 0.0
                if self.k < n:
                    least = np.partition(similar, n - self.k, axis=1)[:, n - self.k, None]
                    above, equal = similar > least, similar == least
                    free = self.k - above.sum(axis=1, keepdims=True)
                    similar[~(above | (equal & (equal.cumsum(axis=1) <= free)))] = 0.0
                blocks[start] = scipy.sparse.csr_array(similar)

        each_block(compare, -(-n // COMPARED))
        return scipy.sparse.vstack([blocks[start] for start in sorted(blocks)], format="csr")


# Compiled, because SciPy's product of sparse matrices takes three times as long: it keeps a list of
# the columns that it has met, and the product with itself of what was rated is almost full.
@kernel
def _count_common(
    start: int, offsets: Codes, ys: Codes, y_offsets: Codes, xs: Codes, common: Codes
) -> None:
    """Count the y that each x from `start` on has in common with every x."""
    for row in range(len(common)):
        counts = common[row]
        for p in range(offsets[start + row], offsets[start + row + 1]):
            for x in xs[y_offsets[ys[p]] : y_offsets[ys[p] + 1]]:  # faster than by position
                counts[np.uint32(x)] += 1


class BinaryKNNEntry(TopNEntry):
    """A sparse matrix of similarities."""

    space = {"k": log_range(5, 1000), "shrinkage": log_range(0.1, 1000.0)}

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        of_items = cls.model_class is BinaryItemKNN
        n, other = counts.n_items, counts.of_users
        if not of_items:
            n, other = counts.n_users, counts.of_items
        fit = 1.0 * float(other @ other) + 20.0 * n * n
        # A score adds up the neighbours of what was rated, or what the neighbours rated.
        rated = counts.n_ratings / max(1, counts.n_users)
        added = rated * min(n, cls.count(params, "k"))
        return Work(fit, counts.n_scored * (4.0 * added + 4.0 * counts.n_items))

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        n = size.n_items if cls.model_class is BinaryItemKNN else size.n_users
        block = 6 * DOUBLE * min(n, COMPARED * n_threads()) * n
        return block + 2 * SPARSE * (n * min(n, cls.count(params, "k")) + size.n_ratings)


class BinaryItemKNN(BinaryKNN):
    """Item neighbours by who rated both: the sum of similarities to what the user rated.

    ``score_ui = Σ s_ji`` over the items j that u rated and that have i among their `k` most similar
    (Deshpande and Karypis 2004, doi:10.1145/963770.963776). ``s_ji = n_ij / (√(n_i n_j) +
    shrinkage)``, n_ij the users who rated both. Surprise's neighbours compare *ratings* instead.
    """

    def learn(self, matrix: Sparse) -> None:
        """Compare items."""
        self.weights = self.most_similar(matrix.T.tocsr())

    def scores(self, users: Codes) -> Floats:
        """Return the sums of similarities."""
        scores: Floats = super().scores(users).toarray()  # type: ignore[attr-defined]
        return scores


class BinaryItemKNNEntry(BinaryKNNEntry):
    """Similar items."""

    model_class = BinaryItemKNN
    summary = "similarity, by who rated both, to the items that the user rated; for top-N lists"
    citation = "deshpande2004item"
    style = ("orange", "s", "-.", True)
    items_alone = True


class BinaryUserKNN(BinaryKNN):
    """User neighbours by what both rated: the sum of similarities of who rated the item.

    ``score_ui = Σ s_uv`` over the `k` users v that are most similar to u, those who rated i
    (Aiolli 2013, doi:10.1145/2507157.2507189, with the symmetric cosine). ``s_uv = n_uv / (√(n_u
    n_v) + shrinkage)``, n_uv the items that both rated. Surprise's neighbours compare *ratings*.
    """

    def learn(self, matrix: Sparse) -> None:
        """Compare users."""
        self.weights = self.most_similar(matrix)

    def scores(self, users: Codes) -> Floats:
        """Return the sums of similarities."""
        scores: Floats = (self.weights[users] @ self.rated(slice(None))).toarray()
        return scores


class BinaryUserKNNEntry(BinaryKNNEntry):
    """Similar users."""

    model_class = BinaryUserKNN
    summary = "how many of the most similar users, by what was rated, rated it; for top-N lists"
    citation = "aiolli2013efficient"
    style = ("orange", "o", ":", False)
