"""The exercise `count_flops`."""
