"""Plan an experiment and carry it out."""

from harness.experiment.run import run

__all__ = ["run"]
