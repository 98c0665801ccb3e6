"""The exercise `lower`."""
