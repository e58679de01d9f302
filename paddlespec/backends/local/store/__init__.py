"""What this machine keeps of jobs and their runs, as files."""
