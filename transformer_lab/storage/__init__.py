"""Files on disk, with atomic writes, locks and checksums.

Models, corpora, runs and studies are stored this way. This subpackage imports only `config` from
the rest of the package.
"""
