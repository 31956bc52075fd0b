"""Decoding: new tokens a second, when every sentence has to run to the same length."""

import sys
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from benchmarks.machine import in_a_line
from benchmarks.memory import peak_megabytes, print_peak
from benchmarks.peers import SMALL, TutorialTransformer, marian, ours
from benchmarks.report import Target, table, target_table
from benchmarks.timing import interleave, ratio, share_of_products, why_not
from transformer_lab.data.batching import EOS_ID, PAD_ID
from transformer_lab.decoding import beam_search, greedy

LENGTHS = (40, 128)
SENTENCES = 32
BEAM = 4
NEVER = -1e4  # the logit of eos, on all sides alike: nobody stops early

Decode = Callable[[int], object]
"""Decodes the sentences to a length in new tokens."""


def sources() -> Tensor:
    """Random sentences of 10 to 25 tokens and their eos, padded."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, SMALL.vocab, (SENTENCES, 26), generator=generator)
    lengths = torch.randint(10, 26, (SENTENCES,), generator=generator)
    at = torch.arange(26)
    ids[at > lengths[:, None]] = PAD_ID
    ids[at == lengths[:, None]] = EOS_ID
    return ids


def decoder(name: str) -> Decode:
    """One of the five that are compared; a model that only this one uses is made here."""
    torch.manual_seed(0)
    source = sources()
    if name.startswith("ours"):
        model = ours(SMALL).eval()
        with torch.no_grad():
            model.output.bias[EOS_ID] = NEVER
        if "beam" in name:
            return lambda length: beam_search(model, source, beam_size=BEAM, max_length=length)
        return lambda length: greedy(model, source, max_length=length)
    if name.startswith("MarianMT"):
        peer = marian(SMALL).eval()
        peer.final_logits_bias[0, EOS_ID] = NEVER
        mask = (source != PAD_ID).long()
        beams = BEAM if "beam" in name else 1
        return lambda length: peer.generate(
            input_ids=source,
            attention_mask=mask,
            max_new_tokens=length,
            num_beams=beams,
            do_sample=False,
        )
    tutorial = TutorialTransformer(SMALL).eval()
    with torch.no_grad():
        tutorial.output.bias[EOS_ID] = NEVER
    return lambda length: tutorial.greedy(source, length)


GREEDY = ("`nn.Transformer`, uncached", "MarianMT, greedy", "ours, greedy")
BEAMS = ("MarianMT, beam 4", "ours, beam 4")


def section(rounds: int) -> str:
    """Rates, memory and the promises about them."""
    decoders = {name: decoder(name) for name in (*GREEDY, *BEAMS)}
    for decode in decoders.values():
        decode(LENGTHS[0])
    parts, targets = [], []
    for length, wanted in zip(LENGTHS, (6.0, 15.0), strict=True):
        runs = {
            name: lambda _, decode=decode, length=length: decode(length)
            for name, decode in decoders.items()
        }
        times = interleave(runs, max(rounds, 5))
        tokens = SENTENCES * length
        uncached, marian_greedy, marian_beam = (times[n] for n in (*GREEDY[:2], BEAMS[0]))
        rows = [
            (
                name,
                f"{tokens / t.median / 1e3:.1f} ({tokens / t.best / 1e3:.1f})",
                f"{ratio(uncached, t):.1f}",
                f"{peak_megabytes('benchmarks.decoding', name, str(length)):.0f} MB",
            )
            for name, t in times.items()
        ]
        head = [f"{length} new tokens", "k tokens/s", "× uncached", "peak memory"]
        parts.append(table(head, rows))
        share = {
            name: share_of_products(partial(decoders[name], LENGTHS[0]))
            for name in (GREEDY[-1], BEAMS[-1])
        }
        for what, slow, name, goal in (
            ("greedy to uncached", uncached, GREEDY[-1], wanted),
            ("greedy to `generate`", marian_greedy, GREEDY[-1], 1.8),
            ("beam 4 to `generate`", marian_beam, BEAMS[-1], 2.0),
        ):
            reached = ratio(slow, times[name])
            reason = why_not(reached, share[name])
            targets.append(Target(f"{length} tokens: {what}", reached, goal, reason=reason))
    about = (
        f"{SENTENCES} sentences in one batch, {SMALL.name}, float32, random weights; the logit of "
        "eos is lowered so that every sentence runs to the length. Tokens are those of the best "
        "hypothesis. Peak memory is what decoding adds to a fresh process that holds the model and "
        f"has decoded two words. {in_a_line(max(rounds, 5))}\n"
    )
    return "\n".join([about, *parts, target_table(targets)])


def main() -> None:
    """Decode in this process, as `python -m benchmarks.decoding NAME LENGTH THREADS`."""
    name, length, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    decode = decoder(name)
    decode(2)
    print_peak(partial(decode, length))


if __name__ == "__main__":
    main()
