"""Jobs on Kubernetes: the only package that knows the client of its API."""
