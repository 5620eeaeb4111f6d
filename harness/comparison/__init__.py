"""Rows compared: differences and letters, several runs, several data sets, the best row."""
