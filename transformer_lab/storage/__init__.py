"""Files on disk, with atomic writes, locks and checksums.

Models, corpora, runs and studies are stored with it. It imports nothing from the rest of the
package except `config`.
"""
