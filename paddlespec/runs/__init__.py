"""Runs of jobs as every place reports them: history, state, outcome, failures."""
