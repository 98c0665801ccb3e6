"""The exercise `run_pipeline`."""
