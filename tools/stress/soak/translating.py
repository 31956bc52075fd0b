"""Translate and edit the live lab for a long time, in one Python process.

    python -m tools.stress.soak.translating COUNT MINUTES

`python -m tools.stress soak` starts it. After every ten translations, a live lab is edited as its page
would request it: another sentence, a muted head, a row made to look at one word. One of the ten is a
record of all heads, every second time with a head muted; the others are greedy or use a beam of 4.
"""

import sys
from typing import Any

import torch

from benchmarks.memory import read_kilobytes
from tools.stress.soak.sizes import print_sizes, soak
from transformer_lab.attention.record import Head
from transformer_lab.data.world.grammar import world
from transformer_lab.lab import LabWidget
from transformer_lab.translator import Translator

EDIT_AFTER = 10
"""How many translations come before each edit."""
MUTED = Head("encoder", 1, 2)


class Reader:
    """A reader who translates, mutes and edits."""

    def __init__(self) -> None:
        self.translator = Translator.load(device="cpu")
        self.sentences = [pair.source for pair in world(train=5_003, seed=7).train]
        self.widget = LabWidget(self.translator, self.sentences[0])
        self.failed: list[str] = []
        self.widget.send = self.hear  # no page listens

    def hear(self, content: dict[str, Any], buffers: object = None) -> None:
        """Keep what a page would get: an answer, or what went wrong."""
        if "error" in content:
            self.failed.append(content["error"])

    def act(self, number: int) -> None:
        """Translate once, and edit after every tenth translation."""
        sentence = self.sentences[number % len(self.sentences)]
        if number % 10 == 9:
            self.translator.attend(sentence, mute=[MUTED] if number % 20 == 19 else ())
        else:
            self.translator.translate(sentence, beam_size=1 if number % 2 else 4)
        if (number + 1) % EDIT_AFTER == 0:
            self.edit(number // EDIT_AFTER)

    def edit(self, number: int) -> None:
        """Ask in turn for a sentence, a muted head in it, and a row that looks at one word."""
        point = {"kind": "encoder", "layer": 0, "head": 0, "query": 1, "key": 0, "share": 1}
        message = {
            "ask": number + 1,
            "text": self.sentences[number // 3 % len(self.sentences)],
            "kept": {"mute": [], "points": []},
            "changes": {
                "mute": [MUTED._asdict()] if number % 3 == 1 else [],
                "points": [point] if number % 3 == 2 else [],
            },
        }
        self.widget.hear(self.widget, message, [])


def main() -> None:
    """Translate, edit and print the sizes of this process; raise an error if an edit failed."""
    torch.set_num_threads(1)
    count, minutes = int(sys.argv[1]), float(sys.argv[2])
    reader = Reader()
    print_sizes(
        soak(
            reader.act,
            lambda: {"Python, RSS in MB": read_kilobytes("VmRSS") / 1024},
            count,
            minutes,
        )
    )
    if reader.failed:
        raise RuntimeError(f"{len(reader.failed)} edits failed, the first: {reader.failed[0]}")


if __name__ == "__main__":
    main()
