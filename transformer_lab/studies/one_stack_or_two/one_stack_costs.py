"""The costs of lesson 16's translators: training, reading a source, and writing a translation.

The study `one_stack` uses them.
"""

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from transformer_lab.data.batching import BOS_ID
from transformer_lab.studies.common.grid import Setting
from transformer_lab.studies.common.stopwatch import time_fastest_call
from transformer_lab.studies.one_stack_or_two.one_stack_training import (
    KINDS,
    RECIPE,
    WORLD,
    iterate_batches,
    load_corpus,
    make_translator,
    translation_loss,
)
from transformer_lab.studies.one_stack_or_two.one_stack_translator import StackTranslator
from transformer_lab.training.step import build_adam, training_step

COSTED, LENGTH, SENTENCES, ROUNDS = 10, 16, (1, 64), 7
"""The numbers of training batches, words per sentence, sentences per batch, and rounds."""


def measure_costs(setting: Setting) -> dict[str, Any]:
    """Measure the costs of training or of writing, whichever the setting names.

    Returns:
        The result of `measure_training_costs` or of `measure_writing_costs`.
    """
    return (
        measure_training_costs(setting["corpus"])
        if setting["cost"] == "training"
        else measure_writing_costs()
    )


def measure_training_costs(corpus: str) -> dict[str, Any]:
    """Measure the arithmetic and the time of `COSTED` training steps for each kind of model.

    The measurement is repeated in rounds, and each round times every kind once.

    Returns:
        For each kind:

        "flops": the number of floating-point operations in all `COSTED` steps.
        "seconds": the time of these steps, in seconds, for each round.
    """
    splits, tokenizers = load_corpus(corpus, seed=0)
    costed = list(islice(iterate_batches(splits.train, tokenizers, seed=0), COSTED))

    def epoch(kind: str) -> Callable[[], None]:
        translator = make_translator(kind, tokenizers, seed=0)
        optimizer = build_adam(translator.model, RECIPE)

        def steps() -> None:
            for examples in costed:
                training_step(partial(translation_loss, translator), optimizer, examples, 1e-3)

        return steps

    epochs = {kind: epoch(kind) for kind in KINDS}
    found: dict[str, Any] = {kind: {"seconds": []} for kind in KINDS}
    for kind, steps in epochs.items():
        # With attention written out, because the counter does not know the fused kernel.
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            steps()
        found[kind]["flops"] = counter.get_total_flops()
    for _ in range(ROUNDS):
        for kind, steps in epochs.items():
            found[kind]["seconds"].append(time_fastest_call(steps))
    return found


def measure_writing_costs() -> dict[str, Any]:
    """Time two tasks: to read `LENGTH` words, and to read them and then write as many words.

    The KV cache is used. The kinds of model take turns in each round.

    Returns:
        For each number of sentences and each kind:

        "read": the time to read, in seconds, for each round.
        "write": the time to read and write, in seconds, for each round.
    """
    tokenizers = load_corpus(WORLD, seed=0)[1]
    found: dict[str, Any] = {}
    for sentences in SENTENCES:
        source = torch.randint(4, tokenizers[0].vocab_size, (sentences, LENGTH))
        tried = {kind: make_translator(kind, tokenizers, seed=0) for kind in KINDS}
        times: dict[str, Any] = {kind: {"read": [], "write": []} for kind in KINDS}
        for _ in range(ROUNDS):
            for kind, translator in tried.items():
                translator.model.eval()
                times[kind]["read"].append(time_fastest_call(partial(translator.read, source)))
                times[kind]["write"].append(
                    time_fastest_call(partial(write_with_cache, translator, source))
                )
        found[str(sentences)] = times
    return found


@torch.inference_mode()
def write_with_cache(translator: StackTranslator, source: Tensor) -> None:
    """Read the source, and write `LENGTH` words greedily with the cache."""
    cache, last = translator.read(source), torch.full((len(source),), BOS_ID)
    for _ in range(LENGTH):
        logits, cache = translator.step(last, cache)
        last = logits.argmax(dim=-1)
