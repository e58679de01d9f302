"""What several commands share: options, loading, output, waiting."""
