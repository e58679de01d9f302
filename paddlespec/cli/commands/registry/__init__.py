"""`registry`: pull secrets, and images in registries."""
