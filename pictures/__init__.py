"""Pictures of the product for the README and the documentation, made with the product itself."""
