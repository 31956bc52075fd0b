"""Scores for translations: BLEU and chrF from sacrebleu, and exact match.

Runs and studies use them. Translations and references are converted to Unicode NFC before they are
compared.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sacrebleu.metrics import BLEU, CHRF

from transformer_lab.data.languages import count_scripts
from transformer_lab.data.text import to_nfc

TOKENIZATIONS = {
    **{"Han": "zh", "Bopomofo": "zh"},
    **dict.fromkeys(("Japanese", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Javanese"), "char"),
}
"""sacreBLEU's tokenization for scripts that put no spaces between words.

For all other scripts, "13a" is used. It would treat a whole sentence in one of the scripts listed
here as a single word.
"""
UNSPACED = 0.15
"""One of `TOKENIZATIONS` is used if at least this fraction of the letters is in its scripts.

The threshold is low because technical Chinese may contain more Latin letters than Chinese
characters: a name has many letters, but a Chinese word often has only two characters.
"""


@dataclass(frozen=True, slots=True)
class Scores:
    """Corpus BLEU and chrF, from 0 to 100, each with the sacrebleu signature of its settings."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """Return the corpus BLEU and chrF of detokenised translations, with their signatures.

    BLEU uses the tokenization that `choose_bleu_tokenization` picks for the references.

    Raises:
        ValueError: If the number of references differs from the number of hypotheses, or there are
            no references.
    """
    check_parallel(hypotheses, references)
    # `force` silences a warning about tokenized text, which `looks_tokenized` detects.
    bleu, chrf = BLEU(tokenize=choose_bleu_tokenization(references), force=True), CHRF()
    ours, theirs = list(map(to_nfc, hypotheses)), list(map(to_nfc, references))
    bleu_score = bleu.corpus_score(ours, [theirs])
    chrf_score = chrf.corpus_score(ours, [theirs])
    signatures = str(bleu.get_signature()), str(chrf.get_signature())
    return Scores(bleu_score.score, signatures[0], chrf_score.score, signatures[1])


def looks_tokenized(texts: Sequence[str]) -> bool:
    """Return whether most texts end in a space and a full stop, as tokenized text does.

    The BLEU of such text cannot be compared with that of other systems.
    """
    return 2 * sum(text.endswith(" .") for text in texts) > len(texts)


def choose_bleu_tokenization(references: Iterable[str]) -> str:
    """Return sacreBLEU's tokenization for the references' script: "13a", "zh" or "char"."""
    scripts = count_scripts(references)
    unspaced = {s: n for s, n in scripts.items() if s in TOKENIZATIONS}
    if not unspaced or sum(unspaced.values()) < UNSPACED * scripts.total():
        return "13a"
    return TOKENIZATIONS[max(sorted(unspaced), key=unspaced.__getitem__)]


def sentence_chrf(hypothesis: str, reference: str) -> float:
    """Return the chrF of one translation, from 0 to 100, using character n-grams up to n = 6.

    Source: Popović 2015.
    """
    found: float = CHRF().sentence_score(to_nfc(hypothesis), [to_nfc(reference)]).score
    return found


def exact_match(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return the fraction of translations that match their reference exactly."""
    check_parallel(hypotheses, references)
    pairs = zip(map(to_nfc, hypotheses), map(to_nfc, references), strict=True)
    return sum(h == r for h, r in pairs) / len(references)


def exact_match_by_group(
    groups: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]
) -> dict[str, float]:
    """Return the fraction of exact matches in each group of translations.

    `groups` names the group of each translation, for example its grammatical construction.
    """
    check_parallel(hypotheses, references)
    members: dict[str, list[bool]] = defaultdict(list)
    for group, h, r in zip(groups, hypotheses, references, strict=True):
        members[group].append(to_nfc(h) == to_nfc(r))
    return {group: sum(right) / len(right) for group, right in sorted(members.items())}


def check_parallel(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Raise a ValueError unless there are as many references as hypotheses, and at least one."""
    if len(hypotheses) != len(references) or not references:
        raise ValueError(
            f"the lengths of hypotheses and references are {len(hypotheses)} and "
            f"{len(references)}; expected two equal lengths of at least 1"
        )
