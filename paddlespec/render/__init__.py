"""Rendering: the runtime environment, templates, manifests and patches of a job."""
