"""The four k-nearest-neighbour algorithms: similarities, means over neighbours, models.

An estimate rests on a weighted mean over the k most similar x that rated y (x the users and y the
items, or the other way round); every sum is Surprise's to the last bit.
"""

# A dumped model whose similarities are computed on demand names these two functions here.
from harness.algorithms.compiled.knn.similarities import fill_msd, fill_similarities

__all__ = ["fill_msd", "fill_similarities"]
