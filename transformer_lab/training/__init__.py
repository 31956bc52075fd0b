"""Training: the loss, the learning rate, one step, the loop, and the state of a run on disk.

Runs and studies train through it; loading a model for inference needs nothing from here.
"""
