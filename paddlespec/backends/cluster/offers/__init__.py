"""
What a cluster offers to commands besides running jobs.

Each class imports what it needs on first use, because an engine creates all of them.
"""
