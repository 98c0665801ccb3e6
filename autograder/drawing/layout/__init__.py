"""The layout of a graph in layers: which row, which column, and which way around."""
