"""
What a cluster offers to commands besides running jobs.

Each class loads what it needs when it is used: an engine lists all of them when it is made.
"""
