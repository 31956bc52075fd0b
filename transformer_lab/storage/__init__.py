"""Files on disk: written atomically, locked, and with checksums.

Models, corpora, runs and studies are stored with it; it imports nothing from the package except
`config`.
"""
