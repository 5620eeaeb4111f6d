"""Plan an experiment and carry it out."""
