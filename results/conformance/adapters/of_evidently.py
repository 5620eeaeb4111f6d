import pandas as pd
from common import complete
from evidently import DataDefinition, Dataset, Recsys, Report
from evidently.metrics import NDCG

COLUMNS = ("user", "item", "target", "prediction")
RANKING = Recsys(user_id="user", item_id="item", target="target", prediction="prediction")


def mean(relevances, scores, k, items=None):
    rows = []
    for user, (row, score) in enumerate(zip(relevances, scores)):
        complete(row, score)
        rows += zip([user] * len(row), items or range(len(row)), row, score)
    frame = pd.DataFrame(rows, columns=COLUMNS)
    data = Dataset.from_pandas(frame, data_definition=DataDefinition(ranking=[RANKING]))
    table = Report([NDCG(k=k)]).run(data, None).dict()["metrics"][0]["value"]
    return table["value"][k - 1]  # the k-th row; its column `rank` has k + 1


def ndcg(relevance, scores, k, items=None):
    return mean([relevance], [scores], k, items)


ndcg.mean = mean
