"""Results that people look at: page, tables and plots, made from results alone."""
