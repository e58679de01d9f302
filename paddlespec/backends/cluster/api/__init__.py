"""Send requests to the Kubernetes API server, and translate its refusals."""
