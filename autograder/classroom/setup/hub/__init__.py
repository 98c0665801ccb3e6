"""The settings with which a class is taught on a JupyterHub."""
