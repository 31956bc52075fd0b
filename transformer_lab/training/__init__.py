"""Loss, schedule, the training loop, and what it keeps on disk."""
