"""The exercise `merge_parallel_linears`."""
