"""Spark's RankingEvaluator on the cases, one user at a time; see `peer_work`."""


def start():
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


def mllib(tied, listed, cuts):
    from pyspark.ml.evaluation import RankingEvaluator

    session = start()
    names = {
        "ndcg": "ndcgAtK",
        "precision": "precisionAtK",
        "recall": "recallAtK",
        "ap": "meanAveragePrecisionAtK",
    }
    found = {role: {k: [] for k in cuts} for role in names}
    for user in listed:
        relevant = [item for item, grade in user["grades"].items() if grade > 0]
        row = ([float(i[1:]) for i in user["items"]], [float(i[1:]) for i in relevant])
        frame = session.createDataFrame([row], "prediction array<double>, label array<double>")
        for role, name in names.items():
            for k in cuts:
                evaluator = RankingEvaluator(metricName=name, k=k)
                found[role][k].append(evaluator.evaluate(frame))
    session.stop()
    return {"mllib": found}


def odd_relevance(scores, grades):
    from pyspark.mllib.evaluation import RankingMetrics

    labels, relevances = [float(item) for item in grades], [float(each) for each in grades.values()]
    row = ([float(item) for item in scores], labels, relevances)
    return RankingMetrics(start().sparkContext.parallelize([row])).ndcgAt(3)


WORKERS = [mllib]
ODD = {"mllib, relevance": odd_relevance}
