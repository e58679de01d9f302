"""What a place has room for, and what of a job fits: pure values, as somebody else has read them."""
