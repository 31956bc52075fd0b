"""Training: the loss, the learning rate, one step, the loop, and a run's state on disk.

Runs and studies train with it; to load a model and translate, you need nothing from here.
"""
