"""The exercises of chapter 12, passes as they are written at work."""
