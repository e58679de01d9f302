"""The command line: options in, results to stdout, everything else to stderr."""
