"""Training runs: presets, a run in its folder, its evaluation and its model card.

The command line and the studies use them.
"""
