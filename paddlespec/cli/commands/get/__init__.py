"""`get`: what is known of jobs, and of the places where they run."""
