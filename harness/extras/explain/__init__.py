"""Why a model estimates what it estimates, what it takes for alike, and how it goes on.

Page: docs/how-to/use-a-model.md
"""
