"""What came after the paper: single-stack models, a recurrence, other forms of attention, and a scan."""
