"""From text to one document: read files, merge layers, interpolate, validate."""
