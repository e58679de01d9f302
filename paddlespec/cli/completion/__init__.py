"""What a shell offers after TAB: commands, options, and their values."""
