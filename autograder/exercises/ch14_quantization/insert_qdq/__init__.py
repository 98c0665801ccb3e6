"""The exercise `insert_qdq`."""
