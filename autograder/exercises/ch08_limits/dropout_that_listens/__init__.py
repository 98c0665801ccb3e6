"""The exercise `dropout_that_listens`."""
