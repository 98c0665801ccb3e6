"""Pictures of the product for the README and the documentation, made from the product itself."""
