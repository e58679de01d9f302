"""Merge the logs of many replicas into one stream, independently of where they run."""
