"""Jobs, replicas and histories as a cluster shows them."""
