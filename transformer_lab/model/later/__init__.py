"""What came after the paper: one-stack models, a recurrence, other forms of attention, and a scan."""
