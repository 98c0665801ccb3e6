"""The machine and its Python: versions, optional packages, terminals, and the notebook's kernel."""
