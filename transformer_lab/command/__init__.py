"""The command line: the commands, their standard streams, and `doctor`.

`python -m transformer_lab` and the script `transformer-lab` start it.
"""
