"""The command line: the commands, their standard streams, and the check of this machine.

`python -m transformer_lab` and the script `transformer-lab` start it.
"""
