"""Layout of a graph in layers: rows, columns, and the order within a row."""
