"""Import other people's models into our layers, and export ours to other libraries.

The command line and lessons 16 and 18 use it.
"""
