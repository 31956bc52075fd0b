"""Changes for `sooner` that have no configuration field: initial weights, optimizer, data order."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import torch
from torch import nn

from transformer_lab.data.batching import Batch, Batches
from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.data.world.lexicon import NOUNS
from transformer_lab.studies.learning_sooner.muon import Muon
from transformer_lab.training.trainer import Trainer

GENDERS = {word: n.gender for n in NOUNS.values() for word in (n.english, n.english_plural)}


@torch.no_grad()
def rescale_parameters(model: nn.Module, factors: Mapping[str, float]) -> None:
    """Multiply each parameter whose name contains a key of `factors` by that factor, in place.

    The key "sinusoids" rescales the table of positional encodings.
    """
    for name, parameter in model.named_parameters():
        for part, factor in factors.items():
            if part in name:
                parameter.mul_(factor)
    for name, table in model.named_buffers():
        if name.endswith("positions.table.table"):
            table.mul_(factors.get("sinusoids", 1.0))


class AdamWithFactors(torch.optim.Adam):
    """An Adam optimizer that multiplies the rate of each parameter group by the group's `times`."""

    def step(self, closure: Any = None) -> Any:
        """Multiply each group's learning rate by the group's `times`, then take one Adam step.

        The trainer sets the same rate for all groups before every step, so the factors do not
        accumulate.
        """
        for group in self.param_groups:
            group["lr"] *= group["times"]
        return super().step(closure)


class JointOptimizer:
    """Several optimizers that step together, each with its own parameters."""

    def __init__(self, *optimizers: torch.optim.Optimizer):
        self.optimizers = optimizers

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The parameter groups of all optimizers."""
        return [group for each in self.optimizers for group in each.param_groups]

    def zero_grad(self) -> None:
        """Reset the gradients of all optimizers."""
        for each in self.optimizers:
            each.zero_grad()

    def step(self) -> None:
        """Take one step with each optimizer."""
        for each in self.optimizers:
            each.step()


def make_adam_with_embedding_rate(trainer: Trainer, times: float) -> AdamWithFactors:
    """Return Adam with the rate of embeddings and output projection multiplied by `times`."""
    names = dict(trainer.model.named_parameters())
    embeddings = [p for name, p in names.items() if is_embedding(name)]
    rest = [p for name, p in names.items() if not is_embedding(name)]
    groups = [{"params": rest, "times": 1.0}, {"params": embeddings, "times": times}]
    return AdamWithFactors(groups, lr=0.0, **get_adam_settings(trainer))


def make_muon_and_adam(trainer: Trainer) -> Any:
    """Return a joint optimizer: Muon for the matrices inside the layers, Adam for the rest."""
    names = dict(trainer.model.named_parameters())
    between = [p for name, p in names.items() if p.dim() == 2 and not is_embedding(name)]
    rest = [p for name, p in names.items() if p.dim() != 2 or is_embedding(name)]
    return JointOptimizer(
        Muon(between), torch.optim.Adam(rest, lr=0.0, **get_adam_settings(trainer))
    )


def is_embedding(name: str) -> bool:
    """Return whether this parameter belongs to an embedding or to the output projection."""
    return "embedding" in name or name.startswith("output")


def get_adam_settings(trainer: Trainer) -> dict[str, Any]:
    """Return the betas, epsilon and fused setting of the trainer's Adam.

    The learning rate is not included, because it is set at each step.
    """
    return {key: trainer.optimizer.defaults[key] for key in ("betas", "eps", "fused")}


class CurriculumBatches(Batches):
    """Batches in three stages: short sentences, then easy pronouns, then all examples.

    Until step 150, the batches come from sentences of at most 8 tokens without a pronoun to
    resolve. From step 150 to step 380, they come from 15,000 sentences without such a pronoun and
    from four copies of each because-sentence whose two nouns have the same gender. In the latter,
    the pronoun's gender can be copied from either noun. After step 380, the batches come from all
    examples.
    """

    def __init__(self, batches: Batches, pairs: Sequence[WorldPair]):
        super().__init__(batches.examples, batches.batch_tokens, batches.seed)
        both = list(zip(self.examples, pairs, strict=True))
        plain = [example for example, pair in both if pair.coreference is None]
        alike = [example for example, pair in both if has_one_gender(pair)]
        short = [example for example in plain if example.length <= 8]
        self.stages = ((150, short), (380, alike * 4 + plain[:15_000]))

    def iterate_from(self, epoch: int, index: int) -> Iterator[tuple[int, int, Batch]]:
        """Yield (epoch, index, batch) from two stages, then from epochs over all examples.

        A curriculum cannot be resumed: `epoch` and `index` must be 0.
        """
        assert epoch == index == 0, "a curriculum cannot be resumed"
        step = 0
        for until, examples in self.stages:
            stage = Batches(examples, self.batch_tokens, self.seed)
            yield from islice(stage.iterate_from(0, 0), until - step)
            step = until
        yield from super().iterate_from(0, 0)


def has_one_gender(pair: WorldPair) -> bool:
    """Return whether the two nouns that a pronoun could refer to have the same gender in French.

    The result is False if the pair has no such pronoun.
    """
    found = pair.coreference
    if found is None:
        return False
    referent, other = pair.source_tokens[found.referent], pair.source_tokens[found.other]
    return GENDERS[referent] == GENDERS[other]
