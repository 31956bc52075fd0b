"""How good translations are: BLEU and chrF by sacrebleu, and exact match."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sacrebleu.metrics import BLEU, CHRF

from transformer_lab.data.languages import count_scripts
from transformer_lab.data.text import composed

TOKENIZATIONS = {
    **{"Han": "zh", "Bopomofo": "zh"},
    **dict.fromkeys(("Japanese", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Javanese"), "char"),
}
"""Of sacreBLEU, by the script of the references, where it puts no spaces between words: else "13a",
by which a whole sentence would be one word."""
UNSPACED = 0.15
"""The share of such letters from which on they count: technical Chinese has more Latin letters than
Chinese ones, as a name has many of them and a word of its own but two."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Corpus scores from 0 to 100, each with the signature that says how it was computed."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """Corpus BLEU and chrF of whole, detokenised texts, both sides in NFC.

    BLEU cuts the texts as `tokenization_of` the references says.

    Raises:
        ValueError: unless there is one reference each, and at least one.
    """
    check_parallel(hypotheses, references)
    bleu, chrf = BLEU(tokenize=tokenization_of(references)), CHRF()
    ours, theirs = list(map(composed, hypotheses)), list(map(composed, references))
    bleu_score = bleu.corpus_score(ours, [theirs])
    chrf_score = chrf.corpus_score(ours, [theirs])
    signatures = str(bleu.get_signature()), str(chrf.get_signature())
    return Scores(bleu_score.score, signatures[0], chrf_score.score, signatures[1])


def tokenization_of(references: Iterable[str]) -> str:
    """How BLEU is to cut these references into words, as sacreBLEU calls it."""
    scripts = count_scripts(references)
    unspaced = {s: n for s, n in scripts.items() if s in TOKENIZATIONS}
    if not unspaced or sum(unspaced.values()) < UNSPACED * scripts.total():
        return "13a"
    return TOKENIZATIONS[max(sorted(unspaced), key=unspaced.__getitem__)]


def sentence_chrf(hypothesis: str, reference: str) -> float:
    """One text's chrF, from 0 to 100 (Popović 2015): the runs of up to six letters that both have."""
    found: float = CHRF().sentence_score(composed(hypothesis), [composed(reference)]).score
    return found


def exact_match(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """The share, from 0 to 1, of translations that equal their reference to the letter, in NFC."""
    check_parallel(hypotheses, references)
    pairs = zip(map(composed, hypotheses), map(composed, references), strict=True)
    return sum(h == r for h, r in pairs) / len(references)


def exact_match_by(
    groups: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]
) -> dict[str, float]:
    """Exact match within each group, for instance each grammatical construction."""
    check_parallel(hypotheses, references)
    members: dict[str, list[bool]] = defaultdict(list)
    for group, h, r in zip(groups, hypotheses, references, strict=True):
        members[group].append(composed(h) == composed(r))
    return {group: sum(right) / len(right) for group, right in sorted(members.items())}


def check_parallel(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Raise a ValueError unless both have the same number of texts, at least one."""
    if len(hypotheses) != len(references) or not references:
        raise ValueError(
            f"{len(hypotheses)} hypotheses and {len(references)} references; "
            "expected one reference for each, and at least one"
        )
