"""Read what a cluster offers to jobs: nodes, queues, quotas, storage, pull secrets."""
