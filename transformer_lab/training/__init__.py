"""Training: the loss, the learning rate, one step, the loop, and a run's state on disk.

Runs and studies use it for training. Loading a model and translating do not need it.
"""
