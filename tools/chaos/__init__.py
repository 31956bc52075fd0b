"""A training run that is killed, starved of disk, signalled and started twice. `make chaos`."""
