"""Lexical shortlists: the output words that a fast translator considers for a sentence.

`formats.bergamot` loads them, and lesson 18 shows one.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Int

from transformer_lab.config import check, check_count
from transformer_lab.storage.files import expand_path

MAGIC = 0xF11A48D5013417F5
HEAD = struct.Struct("<6Q")


class Shortlist:
    """The likely translations of each source word, from a file of the Bergamot project.

    After the header, the file holds an 8-byte offset for each source word, and one more offset for
    the end. Then come the ids of the target words, 4 bytes each. The first `frequent` target words,
    by id, are allowed in every sentence.

    Raises:
        ValueError: If the file is missing or damaged, or is not a shortlist.
    """

    def __init__(self, path: str | Path):
        file = expand_path(path)
        check("path", str(path), "an existing file", file.is_file())
        data = file.read_bytes()
        least = f"at least {HEAD.size}, because a shortlist has a header of that size"
        check_count(f"{path}", len(data), "byte", least, len(data) >= HEAD.size)
        magic, _, self.frequent, _, offsets, words = HEAD.unpack_from(data)
        if magic != MAGIC:
            raise ValueError(f"magic number of {path} is {magic:#x}; expected {MAGIC:#x}")
        size = HEAD.size + 8 * offsets + 4 * words
        if len(data) != size:
            raise ValueError(
                f"{path} has {len(data):,} bytes; expected {size:,} according to its header"
            )
        self.offsets = np.frombuffer(data, "<u8", offsets, HEAD.size)
        self.words = np.frombuffer(data, "<u4", words, HEAD.size + 8 * offsets)
        sources = offsets - 1
        rising = bool((self.offsets[1:] >= self.offsets[:-1]).all())
        ends = offsets > 0 and rising and int(self.offsets[-1]) <= words
        if not ends:
            expected = f"one or more numbers in ascending order, none above {words}"
            raise ValueError(f"{path} has damaged offsets; expected {expected}")
        # One list of words serves both languages.
        expected = f"at most {sources}, because there are {sources} source words"
        fits = self.frequent <= sources
        check_count(f"{path}", self.frequent, "frequent word", expected, fits)

    def check_vocabulary(self, words: int) -> None:
        """Raise a ValueError unless the shortlist fits a shared vocabulary of `words` words."""
        sources, highest = len(self.offsets) - 1, int(self.words.max(initial=0))
        expected = f"{words}, because the vocabulary has {words} words"
        check_count("the shortlist", sources, "source word", expected, sources == words)
        expected = f"at most {words - 1}, because the vocabulary has {words} words"
        check("highest id in the shortlist", highest, expected, highest < words)

    def allowed_ids(self, source: Sequence[int]) -> Int[np.ndarray, " words"]:
        """Return the target ids that a translation of these source ids may use, in ascending order.

        Raises:
            ValueError: If a source id is not in the vocabulary.
        """
        sources = len(self.offsets) - 1
        for i in source:
            check("source id", i, f"0 to {sources - 1}", 0 <= i < sources)
        likely = [self.words[self.offsets[i] : self.offsets[i + 1]] for i in source]
        return np.unique(np.concatenate([np.arange(self.frequent), *likely])).astype(np.int64)
