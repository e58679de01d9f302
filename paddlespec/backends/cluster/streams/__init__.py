"""Logs, commands and forwarded ports: connections that stay open."""
