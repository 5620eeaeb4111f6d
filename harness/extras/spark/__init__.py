"""Rankings larger than memory, the algorithm `spark-als`, and the session that both need.

Page: docs/how-to/scale.md
"""
