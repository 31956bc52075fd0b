"""Later ideas: single-stack models, a recurrence, other forms of attention, and a scan."""
