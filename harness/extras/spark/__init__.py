"""Rankings larger than memory, and a Spark session."""
