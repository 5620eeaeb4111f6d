"""Learning curves: a metric against the fraction of the training ratings."""
