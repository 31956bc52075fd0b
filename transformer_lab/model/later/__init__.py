"""What came after the paper: one-stack models, shared keys, other forms of attention, and a scan."""
