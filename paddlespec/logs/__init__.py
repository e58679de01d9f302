"""Logs of many replicas as one stream, wherever they run: nothing here knows files or clusters."""
