"""Training: real tokens per second on the same tokens, and the share of the machine that is used."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import (
    FlopCounterMode,
    sdpa_backward_flop_count,
    sdpa_flop_count,
)

from benchmarks.corpus import (
    LONGEST,
    Corpus,
    encode_corpus,
    find_token_budget,
    fixed_batches,
    open_corpus,
    real_tokens,
)
from benchmarks.machine import describe_run, measure_peak_flops
from benchmarks.peers import (
    LARGE,
    SMALL,
    Size,
    TutorialTransformer,
    check_sizes,
    make_marian,
    make_ours,
    marian_logits,
)
from benchmarks.report import Target, table, target_table
from benchmarks.timing import (
    Times,
    interleave,
    measure_shares,
    median_ratio,
    name_the_rest,
    sum_products,
)
from transformer_lab.config import Precision, TrainingConfig
from transformer_lab.config.device import has_bfloat16
from transformer_lab.data.batching import PAD_ID, Batch, Example, buckets, collate, padding_share
from transformer_lab.training.trainer import Trainer

SENTENCES = 64  # sentences in an ordinary loop's batch
STEPS = 5  # steps of an ordinary loop in one round
RATE = 1e-3
SMOOTHING = 0.1
CLIP = 1.0
WANTED = 0.85
"""The share of our time that matrix products should take."""


def count_attention_flops(query: Any, key: Any, value: Any, *_: object, **__: object) -> int:
    """Count the multiplications and additions of fused attention from the shapes."""
    return int(sdpa_flop_count(query, key, value))


def count_attention_backward_flops(
    d_out: Any, query: Any, key: Any, value: Any, *_: object, **__: object
) -> int:
    """Count those of its backward pass."""
    return int(sdpa_backward_flop_count(d_out, query, key, value))


ATTENTION = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: count_attention_flops,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: count_attention_backward_flops,
}
"""Functions that count fused attention on a CPU; torch only knows how to count it on a GPU."""


def list_precisions() -> tuple[Precision, ...]:
    """Return the precisions, with bf16 only if the processor multiplies it: emulation takes too long."""
    return ("fp32", "bf16") if has_bfloat16(torch.device("cpu")) else ("fp32",)


def measure_ceilings() -> dict[str, float]:
    """Measure the most FLOP/s in each precision."""
    dtypes = {"fp32": torch.float32, "bf16": torch.bfloat16}
    return {precision: measure_peak_flops(dtypes[precision]) for precision in list_precisions()}


class Ours:
    """The course's Trainer, step by step, with fused Adam, averaged weights and the loss in slices."""

    def __init__(self, size: Size, precision: Precision, device: str = "cpu"):
        config = TrainingConfig(
            precision=precision, device=device, label_smoothing=SMOOTHING, clip_norm=CLIP
        )
        self.model = make_ours(size)
        self.trainer = Trainer(self.model, [Example([2], [1, 2])], [], config, show_progress=False)

    def step(self, batch: Batch, rate: float) -> Tensor:
        """One step; the loss stays a tensor."""
        self.trainer.progress.step += 1
        return self.trainer.step(batch, rate)[0]

    def logits(self, batch: Batch) -> Tensor:
        """Return the logits for the loss at the end."""
        return self.model(batch.source, batch.target_input)


class Ordinary:
    """A tutorial's loop around any model that returns logits."""

    def __init__(
        self,
        model: nn.Module,
        forward: Callable[[Any, Tensor, Tensor], Tensor],
        precision: Precision,
        fused: bool,
        smoothing: float = SMOOTHING,
        weight_decay: float = 0.0,
        device: str = "cpu",
    ):
        self.model, self.forward = model.to(device), forward
        self.device = torch.device(device)
        self.autocast = precision == "bf16"
        self.criterion = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=smoothing)
        self.optimizer = torch.optim.AdamW(
            model.parameters(),
            lr=RATE,
            betas=(0.9, 0.98),
            eps=1e-9,
            weight_decay=weight_decay,
            fused=fused or None,
        )

    def step(self, batch: Batch, rate: float) -> Tensor:
        """One step; the loss stays a tensor."""
        self.model.train()
        batch = batch.to(self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.autocast):
            logits = self.logits(batch)
            loss = self.criterion(logits.flatten(0, 1), batch.target_output.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self.optimizer.step()
        return loss.detach()

    def logits(self, batch: Batch) -> Tensor:
        """Return the logits of one parallel pass."""
        return self.forward(self.model, batch.source, batch.target_input)


Loop = Ours | Ordinary


class Candidate:
    """A loop and its way of making batches; it keeps its losses."""

    def __init__(self, loop: Loop, groups: Callable[[list[Example]], list[list[Example]]]):
        self.loop, self.groups = loop, groups
        self.losses: list[float] = []

    def run(self, groups: Sequence[list[Example]]) -> None:
        """Take one step on each group; padding the groups is part of the work."""
        losses = [self.loop.step(collate(group), RATE) for group in groups]
        self.losses += torch.stack(losses).tolist()

    def count(self, groups: Sequence[list[Example]]) -> float:
        """Count the multiplications and additions in the matrix products of `run`, padding included."""
        with FlopCounterMode(display=False, custom_mapping=ATTENTION) as counter:
            self.run(groups)
        return float(counter.get_total_flops())

    @torch.no_grad()
    def loss(self, examples: Sequence[Example]) -> float:
        """Return the cross-entropy of held-out target tokens in nats, unsmoothed, in float32."""
        self.loop.model.eval()
        total, tokens = 0.0, 0
        for group in buckets(examples, 4_096):
            batch = collate(group)
            logits, target = self.loop.logits(batch).float(), batch.target_output
            total += F.cross_entropy(
                logits.flatten(0, 1), target.flatten(), ignore_index=PAD_ID, reduction="sum"
            ).item()
            tokens += int((target != PAD_ID).sum())
        return total / tokens


def make_candidates(size: Size, precision: Precision, budget: int) -> dict[str, Candidate]:
    """Return all candidates at one size and precision, each with the same seed."""

    def padded(examples: list[Example]) -> list[list[Example]]:
        return fixed_batches(examples, SENTENCES)

    def by_length(examples: list[Example]) -> list[list[Example]]:
        return buckets(examples, budget, seed=0)

    def tutorial(fused: bool) -> Ordinary:
        torch.manual_seed(0)
        return Ordinary(TutorialTransformer(size), TutorialTransformer.__call__, precision, fused)

    def hugging_face() -> Ordinary:
        torch.manual_seed(0)
        return Ordinary(make_marian(size), marian_logits, precision, fused=True)

    def course() -> Ours:
        torch.manual_seed(0)
        return Ours(size, precision)

    return {
        "`nn.Transformer`, ordinary loop": Candidate(tutorial(fused=False), padded),
        "`nn.Transformer`, fused Adam": Candidate(tutorial(fused=True), padded),
        "MarianMT, fused Adam": Candidate(hugging_face(), padded),
        "ours, the same batches": Candidate(course(), padded),
        "ours, buckets": Candidate(course(), by_length),
    }


def measure_size(
    size: Size, corpus: Corpus, rounds: int
) -> tuple[str, dict[str, Times], dict[str, dict[str, float]]]:
    """Measure all candidates in every precision; they take turns.

    It returns the table, the times, and the share of our own candidates' time that each operation
    takes; the keys are precision and name.
    """
    check_sizes(size)
    train, validation = encode_corpus(corpus, size.vocab)
    parts = rounds + 1  # the first one warms up, and its products are counted
    pool = train[: parts * STEPS * SENTENCES]
    budget = find_token_budget(pool, parts * STEPS)
    everyone = {
        f"{precision}: {name}": candidate
        for precision in list_precisions()
        for name, candidate in make_candidates(size, precision, budget).items()
    }
    # All train on the whole pool, each in its own batches; every round uses some of these.
    groups = {name: candidate.groups(pool) for name, candidate in everyone.items()}
    pieces = {name: [g[part::parts] for part in range(parts)] for name, g in groups.items()}
    tokens = {name: [sum(map(real_tokens, p)) for p in own] for name, own in pieces.items()}
    peak = measure_ceilings()
    flops = {name: c.count(pieces[name][0]) / tokens[name][0] for name, c in everyone.items()}
    runs = {
        name: lambda number, name=name, candidate=candidate: candidate.run(pieces[name][number + 1])
        for name, candidate in everyone.items()
    }
    times = interleave(runs, rounds)
    peak = {precision: max(peak[precision], one) for precision, one in measure_ceilings().items()}
    # In seconds per token, because the rounds differ a little in length.
    scaled = {
        name: Times([s / n for s, n in zip(t.seconds, tokens[name][1:], strict=True)])
        for name, t in times.items()
    }
    base = "`nn.Transformer`, ordinary loop"
    rows = []
    for name, t in scaled.items():
        precision = name[:4]
        share = flops[name] / t.median / peak[precision]
        loss = everyone[name].loss(validation)
        assert loss < everyone[name].losses[0], f"{name}: the loss did not fall"
        rows.append(
            (
                name,
                f"{1 / t.median / 1e3:.1f} ({1 / t.best / 1e3:.1f})",
                f"{median_ratio(scaled[f'{precision}: {base}'], t):.2f}",
                f"{median_ratio(scaled[f'fp32: {base}'], t):.2f}",
                f"{flops[name] / 1e6:.1f}",
                f"{share:.0%}",
                str(len(everyone[name].losses)),
                f"{loss:.2f}",
            )
        )
    head = ["", "k tokens/s", "× ordinary loop", "× ordinary loop in fp32"]
    head += ["MFLOP a token", "of the ceiling", "steps", "held-out loss"]
    padding = padding_share(fixed_batches(pool, SENTENCES))
    less = padding_share(buckets(pool, budget, seed=0))
    text = (
        f"**{size.name}**; {real_tokens(pool):,} real tokens for each, {padding:.0%} padding in "
        f"ordinary batches of {SENTENCES} sentences and {less:.0%} in buckets of {budget:,} "
        "tokens:\n\n"
    )
    shares = {
        name: measure_shares(partial(candidate.run, pieces[name][0][:2]))
        for name, candidate in everyone.items()
        if "ours" in name
    }
    return text + table(head, rows), scaled, shares


def section(rounds: int) -> str:
    """Return the section: both sizes, and how close each comes to its own matrix products.

    No loop can be faster than the products that all of them compute, so that is the limit.
    """
    corpus = open_corpus()
    parts, targets = [], []
    for size in (SMALL, LARGE):
        text, times, shares = measure_size(size, corpus, rounds)
        parts.append(text)
        ordinary = times["fp32: `nn.Transformer`, ordinary loop"]
        for what, name in (
            ("identical batches, fp32", "fp32: ours, the same batches"),
            ("buckets and bf16", "bf16: ours, buckets"),
        ):
            if name not in times:
                continue
            products = sum_products(shares[name])
            reached = median_ratio(ordinary, times[name])
            what = f"d_model {size.d_model}, {what}: what products take of our time"
            reason = (
                f"We're {reached:.2f} times as fast as the ordinary loop in fp32, and with nothing "
                f"but products we'd be {reached / products:.1f} times as fast. "
                f"The rest: {name_the_rest(shares[name])}."
            )
            targets.append(Target(what, products, WANTED, reason=reason))
    about = f"Corpus: {corpus.name}, up to {LONGEST} tokens per side. {describe_run(rounds)}\n"
    if "bf16" not in list_precisions():
        about += "bf16 is left out: this processor does not multiply it.\n"
    return "\n".join([about, *parts, target_table(targets, "share")])
