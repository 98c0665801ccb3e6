"""Models with parts whose control flow depends on data: for `keep_dynamic`."""
