"""A config that names what is not installed says how to get it."""

import pytest

import harness
from harness.errors import ConfigError

CONFIG = {"dataset": "bundled", "algorithms": ["ItemMean"], "metrics": ["rmse"]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dataset": "loans"}, "dataset: found 'loans'; use one of .*package that has it"),
        ({"dataset": "desk.slips"}, "no reader of '.slips' files is installed; install the"),
        ({"dataset": "ml-1m.zap"}, "found 'ml-1m.zap'; did you mean 'ml-1m'"),
        ({"dataset": {"path": "a", "format": "zzyx"}}, "found 'zzyx'; use one of .*csv.*has it"),
        ({"split": "weekday"}, "unknown kind 'weekday'; .*or install the package that has it"),
        ({"algorithms": ["Xy"]}, "unknown algorithm 'Xy'; .*or install the package that has it"),
        ({"metrics": ["qqqq@5"]}, "unknown metric 'qqqq'; .*or install the package that has it"),
        ({"analyses": ["qqqq"]}, "'qqqq' is not among the analyses; .*package that has it"),
        ({"trackers": ["qqqq"]}, "'qqqq' is not among the trackers; .*package that has it"),
    ],
)
def test_each_kind_says_where_it_could_come_from(changes, said):
    with pytest.raises(ConfigError, match=said):
        harness.run(CONFIG | changes, results=None)
