"""The exercises of chapter 10."""
