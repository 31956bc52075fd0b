"""Lesson 16's study: does a translator need an encoder? Here, one stack is compared with two.

    python -m transformer_lab.studies.one_stack_or_two.one_stack

The two stacks are the course's small translator, with two layers per side. One stack of five such
layers has about as many parameters, and reads the source followed by the translation. It comes in
two kinds: one looks only to the left, as a GPT does, and the other reads the source in both
directions. In one stack, every layer processes the words of both sides; in two stacks, each layer
processes those of one side. So a training step of one stack costs more, and the GPT is trained
three times: for as many steps as the two stacks, for as much arithmetic, and for as much time.

This was fixed before these runs: there are five seeds, and a difference counts if the 95% interval
of its mean over them excludes 0 (Student's t, paired by seed). Each kind gets the best of four
rates on each corpus, chosen with a sixth seed and fewer steps. If one stack and two stacks get
different rates, one stack is also trained with the two stacks' rate, as a control. All models are
pre-norm, because post-norm suffers from depth, and have no dropout, because no sentence is read
often. The corpora are the bilingual world and Debian's short package descriptions, which are
fetched with apt.

An earlier series had 400 steps on the world, 250 for choosing the rates, and only the beginning of
a training run on Debian's text. In that series, one stack was ahead after 250 steps and behind
after 400, so these runs are longer. Nothing else was changed, except that Debian's sentences are
now the short ones.
"""

from functools import partial
from itertools import islice
from typing import Any

from transformer_lab.data.batching import encode_pairs
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.one_stack_or_two.one_stack_costs import measure_costs
from transformer_lab.studies.one_stack_or_two.one_stack_scores import (
    held_out_loss,
    score_attention,
    score_greedy,
)
from transformer_lab.studies.one_stack_or_two.one_stack_training import (
    DEBIAN,
    KINDS,
    RECIPE,
    WORLD,
    iterate_batches,
    load_corpus,
    make_translator,
    translation_loss,
)
from transformer_lab.training.schedule import linear_rate
from transformer_lab.training.step import build_adam, training_step

NAME = "one_stack"
TWO, ONE, BOTH = KINDS
STEPS = {WORLD: 1_200, DEBIAN: 1_800}
RATES, TRIED = (1.5e-3, 3e-3, 6e-3, 1.2e-2), 600
"""The rates tried with seed 5, and the number of steps in those runs."""
BEST = {
    WORLD: {TWO: 3e-3, ONE: 6e-3, BOTH: 6e-3},
    DEBIAN: {TWO: 6e-3, ONE: 6e-3},
}
"""For each corpus and kind, the rate with the lowest loss on unseen sentences."""
ARITHMETIC = {WORLD: 626, DEBIAN: 1_021}
"""How many steps of one stack take as much arithmetic as `STEPS` steps of two stacks."""
TIME = {WORLD: 744, DEBIAN: 1_104}
"""How many steps of one stack take as long as `STEPS` steps of two stacks.

The times are medians over the rounds.
"""
NUM_TRANSLATED, NUM_ALIGNED = 1_000, 200
"""The numbers of test sentences that are translated, and of those whose attention is scored."""


def make_setting(corpus: str, kind: str, rate: float, steps: int, seed: int) -> Setting:
    """Return the setting of one training run."""
    return {"corpus": corpus, "kind": kind, "rate": rate, "steps": steps, "seed": seed}


def list_comparisons(corpus: str) -> list[tuple[str, int]]:
    """Return the (kind of model, number of training steps) combinations compared on a corpus."""
    whole = STEPS[corpus]
    return [
        *((kind, whole) for kind in BEST[corpus]),
        (ONE, ARITHMETIC[corpus]),
        (ONE, TIME[corpus]),
    ]


CHOICE: list[Setting] = [
    make_setting(corpus, kind, rate, TRIED, seed=5)
    for corpus, kinds in BEST.items()
    for rate in RATES
    for kind in kinds
]
COSTS: list[Setting] = [{"cost": "training", "corpus": corpus} for corpus in BEST] + [
    {"cost": "writing"}
]
GRID: list[Setting] = [
    *CHOICE,
    *COSTS,
    *(
        make_setting(corpus, kind, BEST[corpus][kind], steps, seed)
        for corpus in BEST
        for seed in range(5)
        for kind, steps in list_comparisons(corpus)
    ),
    *(
        make_setting(corpus, ONE, BEST[corpus][TWO], STEPS[corpus], seed)
        for corpus in BEST
        if BEST[corpus][TWO] != BEST[corpus][ONE]
        for seed in range(5)
    ),
]
SMALL: list[Setting] = [make_setting(WORLD, BOTH, 3e-3, 10, seed) for seed in range(10, 15)]
"""Runs of a few seconds; the tests repeat one of them."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator and score it, or measure the costs of all of them.

    Returns:
        For a setting with "cost", the result of `measure_costs`. For a translator:

        "parameters": the parameter count.
        "loss": the loss on unseen sentences, in nats.

        The dict also has the entries of `score_greedy` and, in the bilingual world, those of
        `score_attention`.
    """
    if "cost" in setting:
        return measure_costs(setting)
    seed, steps = setting["seed"], setting["steps"]
    splits, tokenizers = load_corpus(setting["corpus"], seed)
    translator = make_translator(setting["kind"], tokenizers, seed)
    optimizer = build_adam(translator.model, RECIPE)
    train = iterate_batches(splits.train, tokenizers, seed)
    for step, examples in enumerate(islice(train, steps), start=1):
        rate = linear_rate(step, setting["rate"], min(RECIPE.warmup_steps, steps // 2), steps)
        training_step(
            partial(translation_loss, translator), optimizer, examples, rate, RECIPE.clip_norm
        )
    translator.model.eval()
    asked = splits.test[:NUM_TRANSLATED]
    found = {
        "parameters": sum(p.numel() for p in translator.model.parameters()),
        "loss": held_out_loss(translator, encode_pairs(asked, *tokenizers)),
        **score_greedy(translator, tokenizers, asked),
    }
    if setting["corpus"] == WORLD:  # where the right links are known
        found |= score_attention(translator, tokenizers, splits.test[:NUM_ALIGNED])
    return found


if __name__ == "__main__":
    run_study_command(NAME, run, [*SMALL, *GRID])
