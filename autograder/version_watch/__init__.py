"""``fxcourse doctor --against``: the differences between the course and another PyTorch.

`environment` examines another Python environment. `child` runs one of the `parts` in it, and
`page` writes about the results. All but the table of `private_names` needs a clone of the project.
"""
