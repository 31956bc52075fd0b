"""What came after the paper: one-stack models, shared keys, other ways to attend, a scan."""
