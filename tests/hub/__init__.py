"""A class on a real JupyterHub."""
