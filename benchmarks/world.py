"""Time to 98% exact match on the bilingual world, with the same sentences in the same order."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.corpus import fixed_batches, real_tokens
from benchmarks.machine import describe_run
from benchmarks.peers import Size, TutorialTransformer, make_marian, make_ours, marian_logits
from benchmarks.report import table
from benchmarks.training import Ordinary
from transformer_lab.config import TrainingConfig
from transformer_lab.data.batching import EOS_ID, PAD_ID, Example, buckets, collate, encode_pairs
from transformer_lab.data.corpus import find_corpus
from transformer_lab.decoding import greedy
from transformer_lab.runs.presets import PRESETS
from transformer_lab.training.schedule import linear_rate
from transformer_lab.training.trainer import Trainer

GOAL = 0.98
CAP = 240.0  # seconds of training for each candidate
LOOK_EVERY = 200  # steps
CHUNK = 6_000  # sentences that all candidates see before any of them sees the next ones
SENTENCES = 500  # of the validation split, translated greedily at each look
LONGEST = 40  # new tokens
TINY = PRESETS["tiny"].training


@dataclass
class Run:
    """One candidate: how it trains on a chunk of sentences, and how it translates."""

    groups: Callable[[list[Example]], list[list[Example]]]
    step: Callable[[list[Example], float], object]
    translate: Callable[[Tensor], list[list[int]]]


def cut_at_eos(ids: list[int]) -> list[int]:
    """Return the ids before eos."""
    return ids[: ids.index(EOS_ID)] if EOS_ID in ids else ids


def make_ours_run(size: Size) -> Run:
    """Return our Trainer with the recipe of `train`; it translates with averaged weights."""
    torch.manual_seed(0)
    model = make_ours(size)
    config = TrainingConfig(**{**TINY.to_dict(), "device": "cpu", "save_every": None})
    trainer = Trainer(model, [Example([2], [1, 2])], [], config, show_progress=False)

    def step(group: list[Example], rate: float) -> None:
        trainer.progress.step += 1
        trainer.step(collate(group), rate)

    def translate(source: Tensor) -> list[list[int]]:
        with trainer.ema_weights():
            model.eval()
            return [list(h.ids) for h in greedy(model, source, max_length=LONGEST)]

    return Run(lambda chunk: buckets(chunk, TINY.batch_tokens, seed=0), step, translate)


def make_ordinary_run(
    model: nn.Module,
    forward: Callable[[Any, Tensor, Tensor], Tensor],
    fused: bool,
    sentences: int,
    decode: Callable[[Tensor], Tensor],
) -> Run:
    """Return a tutorial's loop with padded batches of this many sentences."""
    loop = Ordinary(model, forward, "fp32", fused, TINY.label_smoothing, TINY.weight_decay)

    def translate(source: Tensor) -> list[list[int]]:
        model.eval()
        return decode(source).tolist()

    return Run(
        lambda chunk: fixed_batches(chunk, sentences),
        lambda group, rate: loop.step(collate(group), rate),
        translate,
    )


def exact_match(run: Run, examples: list[Example]) -> float:
    """Return the share of translations that equal the reference word for word."""
    right = 0
    for group in buckets(examples, 4_096):
        batch = collate(group)
        found = run.translate(batch.source)
        right += sum(
            cut_at_eos(ids) == cut_at_eos(e.target[1:]) for ids, e in zip(found, group, strict=True)
        )
    return right / len(examples)


def time_to_goal(run: Run, train: list[Example], validation: list[Example]) -> list[str]:
    """Return a table row: seconds of training, steps, real tokens and the share that was reached."""
    seconds, steps, tokens, share = 0.0, 0, 0, 0.0
    at = 0
    total = TINY.max_steps
    while seconds < CAP and steps < total:
        chunk = [train[(at + i) % len(train)] for i in range(CHUNK)]
        at += CHUNK
        for group in run.groups(chunk):
            start = time.perf_counter()
            rate = linear_rate(steps + 1, TINY.peak_rate or 2e-3, TINY.warmup_steps, total)
            run.step(group, rate)
            seconds += time.perf_counter() - start
            steps += 1
            tokens += real_tokens(group)
            if steps % LOOK_EVERY == 0 or steps == total:
                share = exact_match(run, validation)
                if share >= GOAL:
                    return [f"{seconds:.0f} s", str(steps), f"{tokens:,}", f"{share:.1%}"]
            if seconds >= CAP or steps >= total:
                break
    return [f"not within {seconds:.0f} s", str(steps), f"{tokens:,}", f"{share:.1%}"]


def section() -> str:
    """Run each candidate once, one after the other, and return the section."""
    corpus = find_corpus("world")
    world = corpus.splits()
    source, target = corpus.tokenizers(world.train, PRESETS["tiny"].vocab_size)
    train = encode_pairs(world.train, source, target)
    validation = encode_pairs(world.validation[:SENTENCES], source, target)
    random.Random(0).shuffle(train)
    size = Size(128, 2, 4, 256, source.vocab_size, target.vocab_size, dropout=0.0)
    # As many sentences per step as our buckets have on average, so the steps are equally many.
    chunk = train[:CHUNK]
    sentences = round(CHUNK / len(buckets(chunk, TINY.batch_tokens)))

    def tutorial() -> Run:
        torch.manual_seed(0)
        model = TutorialTransformer(size)
        decode = lambda ids: model.greedy(ids, LONGEST)  # noqa: E731
        return make_ordinary_run(model, TutorialTransformer.__call__, False, sentences, decode)

    def hugging_face() -> Run:
        torch.manual_seed(0)
        model = make_marian(size)

        def decode(ids: Tensor) -> Tensor:
            mask = (ids != PAD_ID).long()
            found = model.generate(
                input_ids=ids,
                attention_mask=mask,
                max_new_tokens=LONGEST,
                num_beams=1,
                do_sample=False,
            )
            return found[:, 1:]

        return make_ordinary_run(model, marian_logits, True, sentences, decode)

    makers = {
        "`nn.Transformer`, ordinary loop": tutorial,
        "MarianMT, fused Adam": hugging_face,
        "ours": lambda: make_ours_run(size),
    }
    rows = [[name, *time_to_goal(make(), train, validation)] for name, make in makers.items()]
    about = (
        f"d_model 128, 2 layers, feed-forward 256, no dropout, float32. The same {len(train):,} "
        f"pairs in the same order, in chunks of {CHUNK:,}; {sentences} sentences per step in ordinary "
        f"batches, and as many on average in our buckets; rate and weight decay of `train`. "
        f"Every {LOOK_EVERY} steps, {SENTENCES} held-out sentences are translated greedily, which "
        f"is not counted in the time. At most {CAP:.0f} s and {TINY.max_steps:,} steps each. Ours "
        f"translates with its averaged weights; the time for averaging counts. {describe_run(1)}\n"
    )
    head = ["", "training until 98 %", "steps", "real tokens", "exact match there"]
    return "\n".join([about, table(head, rows)])
