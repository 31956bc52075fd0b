"""Import models from other projects into our layers, and export ours to other libraries.

The command line and lessons 16 and 18 use it.
"""
