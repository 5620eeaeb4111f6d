"""What a library computes for NDCG: a conformance suite.

Page: docs/reference/ndcg-by-library.md
"""
