"""Training: the loss, the learning rate, one step, the loop, and a run's state on disk.

Runs and studies use this package. It is not needed to load a model or to translate.
"""
