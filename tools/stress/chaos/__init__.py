"""Training that is killed, signalled and started twice: `python -m tools.stress chaos`."""
