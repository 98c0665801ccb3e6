"""The exercise `build_with_proxies`."""
