"""Container images: references, registries, pull secrets."""
