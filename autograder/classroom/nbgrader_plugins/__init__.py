"""Plug-ins for nbgrader: classes that its configuration names."""
