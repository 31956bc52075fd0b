"""Translate and edit the live explorer for a long time, in one Python process.

    python -m tools.soak.translating COUNT MINUTES

Of ten acts one is an edit of a live explorer, as its page would ask it: another sentence, a head
that is muted, a row that is pointed. Of the ten translations before it one is a record of all heads,
with a head muted by turns; the others are greedy and by a beam of 4.
"""

import sys
from typing import Any

import torch

from benchmarks.memory import kilobytes
from tools.soak.sizes import soak, tell
from transformer_lab.attention_record import Head
from transformer_lab.data.world.grammar import world
from transformer_lab.translator import Translator
from transformer_lab.viz import AttentionExplorer

EDIT_AFTER = 10
"""Translations before each edit."""
MUTED = Head("encoder", 1, 2)


class Reader:
    """Who translates, mutes, and edits."""

    def __init__(self) -> None:
        self.translator = Translator.load(device="cpu")
        self.sentences = [pair.source for pair in world(train=5_003, seed=7).train]
        self.explorer = AttentionExplorer(self.translator, source=self.sentences[0])
        self.failed: list[str] = []
        self.explorer.send = self.hear  # no page listens

    def hear(self, content: dict[str, Any], buffers: object = None) -> None:
        """What a page would get: an answer, or what went wrong."""
        if "error" in content:
            self.failed.append(content["error"])

    def act(self, number: int) -> None:
        """One translation, and after each tenth an edit."""
        sentence = self.sentences[number % len(self.sentences)]
        if number % 10 == 9:
            self.translator.attend(sentence, mute=[MUTED] if number % 20 == 19 else ())
        else:
            self.translator.translate(sentence, beam_size=1 if number % 2 else 4)
        if (number + 1) % EDIT_AFTER == 0:
            self.edit(number // EDIT_AFTER)

    def edit(self, number: int) -> None:
        """By turns another sentence, a muted head in it, and a row of it that is pointed."""
        row = {"kind": "encoder", "layer": 0, "head": 0, "query": 1, "key": 0}
        message = {
            "ask": number + 1,
            "source": self.sentences[number // 3 % len(self.sentences)],
            "mute": [list(MUTED)] if number % 3 == 1 else [],
            "patch": [row] if number % 3 == 2 else [],
        }
        self.explorer.hear(self.explorer, message, [])


def main() -> None:
    """Print the sizes of this process; an error if an edit was answered with one."""
    torch.set_num_threads(1)
    count, minutes = int(sys.argv[1]), float(sys.argv[2])
    reader = Reader()
    tell(soak(reader.act, lambda: {"Python, RSS in MB": kilobytes("VmRSS") / 1024}, count, minutes))
    if reader.failed:
        raise RuntimeError(f"{len(reader.failed)} edits failed, the first: {reader.failed[0]}")


if __name__ == "__main__":
    main()
