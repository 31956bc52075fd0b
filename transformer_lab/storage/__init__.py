"""Files on disk: written atomically, locked, and with checksums.

Models, corpora, runs and studies are stored through it; it imports no other room but `config`.
"""
