"""A classroom's folder: opened, locked, and connected to its gradebook."""
