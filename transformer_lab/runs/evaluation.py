"""A translator's scores on pairs it has never seen: exact match, BLEU, chrF, pronouns, loss.

The command line, the model card and the lessons use them.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from transformer_lab.config import TrainingConfig
from transformer_lab.data.batching import (
    buckets,
)
from transformer_lab.data.pair import SentencePair
from transformer_lab.data.world import grammar
from transformer_lab.decoding import log_probabilities
from transformer_lab.evaluation.bleu import exact_match, exact_match_by_group, score
from transformer_lab.evaluation.pronouns import pronoun_accuracy
from transformer_lab.runs.building import encode_fitting
from transformer_lab.translator import Translator


def validation_loss(translator: Translator, pairs: Sequence[SentencePair]) -> float:
    """Return a translator's mean cross-entropy on these pairs, in nats per token.

    The result is NaN if there are no pairs.
    """
    examples = encode_fitting(translator, pairs, translator.model.config.max_length)
    groups = buckets(examples, TrainingConfig().batch_tokens)
    model = translator.model.eval()
    total = sum(sum(log_probabilities(model, group)) for group in groups)
    tokens = sum(len(example.target) - 1 for example in examples)
    return (0.0 - total) / tokens if tokens else math.nan  # a perfect model gets 0.0, never −0.0


@dataclass(frozen=True)
class Evaluation:
    """A translator's scores on held-out pairs.

    BLEU and chrF range from 0 to 100, and all other scores from 0 to 1. `pronouns` is the accuracy
    on pronouns, or None if the corpus does not say what its pronouns refer to. `by_construction` is
    the exact match for each construction of the bilingual world.
    """

    sentences: int
    exact_match: float
    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    pronouns: float | None = None
    by_construction: dict[str, float] = field(default_factory=dict)


def evaluate(
    translator: Translator, pairs: Sequence[SentencePair], *, beam_size: int = 4
) -> Evaluation:
    """Translate the sources, compare the results with the targets, and return the scores.

    A source that the translator refuses, for example because it is too long, gets an empty
    translation. The number of such sources is printed on standard error.
    """
    references = [p.target for p in pairs]
    texts = [""] * len(pairs)
    refused = translator.find_refusals([pair.source for pair in pairs])
    readable = [i for i in range(len(pairs)) if i not in refused]
    if refused:
        print(
            f"{len(refused)} sentences cannot be read by the translator, so they count as wrong",
            file=sys.stderr,
        )
    hypotheses = translator.translate([pairs[i].source for i in readable], beam_size=beam_size)
    for i, hypothesis in zip(readable, hypotheses, strict=True):
        texts[i] = hypothesis.translation
    scores = score(texts, references)
    share = exact_match(texts, references)
    evaluation = Evaluation(len(pairs), share, **asdict(scores))
    world = [p for p in pairs if isinstance(p, grammar.WorldPair)]
    if len(world) < len(pairs):
        return evaluation
    tokenizer = translator.target_tokenizer
    tokens = [tokenizer.tokens(tokenizer.encode(text)) for text in texts]
    asked = any(pair.coreference for pair in world)
    return replace(
        evaluation,
        pronouns=pronoun_accuracy(tokens, world) if asked else None,
        by_construction=exact_match_by_group([p.construction for p in world], texts, references),
    )
