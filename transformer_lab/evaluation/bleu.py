"""How good translations are: BLEU and chrF by sacrebleu, and exact match."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics import BLEU, CHRF


@dataclass(frozen=True, slots=True)
class Scores:
    """Corpus scores from 0 to 100, each with the signature that says how it was computed."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """Corpus BLEU and chrF of whole, detokenised texts; ValueError unless there is one reference each."""
    check_parallel(hypotheses, references)
    bleu, chrf = BLEU(), CHRF()
    bleu_score = bleu.corpus_score(list(hypotheses), [list(references)])
    chrf_score = chrf.corpus_score(list(hypotheses), [list(references)])
    signatures = str(bleu.get_signature()), str(chrf.get_signature())
    return Scores(bleu_score.score, signatures[0], chrf_score.score, signatures[1])


def sentence_chrf(hypothesis: str, reference: str) -> float:
    """One text's chrF, from 0 to 100 (Popović 2015): the runs of up to six letters that both have."""
    found: float = CHRF().sentence_score(hypothesis, [reference]).score
    return found


def exact_match(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """The share, from 0 to 1, of translations that equal their reference to the letter."""
    check_parallel(hypotheses, references)
    return sum(h == r for h, r in zip(hypotheses, references, strict=True)) / len(references)


def exact_match_by(
    groups: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]
) -> dict[str, float]:
    """Exact match within each group, for instance each grammatical construction."""
    check_parallel(hypotheses, references)
    members: dict[str, list[bool]] = defaultdict(list)
    for group, h, r in zip(groups, hypotheses, references, strict=True):
        members[group].append(h == r)
    return {group: sum(right) / len(right) for group, right in sorted(members.items())}


def check_parallel(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Raise a ValueError unless both have the same number of texts, at least one."""
    if len(hypotheses) != len(references) or not references:
        raise ValueError(
            f"{len(hypotheses)} hypotheses and {len(references)} references; "
            "expected one reference for each, and at least one"
        )
