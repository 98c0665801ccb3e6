"""A classroom's folder: finding, locking and opening it, and connecting to its gradebook."""
