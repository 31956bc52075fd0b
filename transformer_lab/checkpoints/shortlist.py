"""A lexical shortlist: which words a fast translator looks at for a sentence, instead of all."""

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from jaxtyping import Int

from transformer_lab.config import check

MAGIC = 0xF11A48D5013417F5
HEAD = struct.Struct("<6Q")


class Shortlist:
    """The likely translations of each source word, from a file of the Bergamot project.

    Behind the head stand one offset for each source word and one more, 8 bytes each, and the target
    words' ids, 4 bytes each. The `frequent` first target words are allowed for all sentences.

    Raises:
        ValueError: If it is no such file, or is cut off.
    """

    def __init__(self, path: str | Path):
        data = Path(path).read_bytes()
        check("path", str(path), "a shortlist's file", len(data) >= HEAD.size)
        magic, _, self.frequent, _, offsets, words = HEAD.unpack_from(data)
        check(f"first bytes of {path}", hex(magic), hex(MAGIC), magic == MAGIC)
        size = HEAD.size + 8 * offsets + 4 * words
        check(f"bytes of {path}", len(data), f"{size}, by its head", len(data) == size)
        self.offsets = np.frombuffer(data, "<u8", offsets, HEAD.size)
        self.words = np.frombuffer(data, "<u4", words, HEAD.size + 8 * offsets)

    def allowed(self, source: Iterable[int]) -> Int[np.ndarray, " words"]:
        """The ids that a translation of these source ids may use, in ascending order."""
        likely = [self.words[self.offsets[i] : self.offsets[i + 1]] for i in source]
        return np.unique(np.concatenate([np.arange(self.frequent), *likely])).astype(np.int64)
