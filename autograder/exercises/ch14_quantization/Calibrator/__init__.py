"""The exercise `Calibrator`."""
