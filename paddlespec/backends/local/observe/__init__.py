"""Runs on this machine as every place reports them."""
