"""The translators of lesson 16's study: what each sees, writes and costs."""

from collections import defaultdict
from statistics import median

import numpy as np
import pytest
import torch

from transformer_lab.data.batching import BOS_ID, EOS_ID, Example
from transformer_lab.studies.common import store
from transformer_lab.studies.one_stack_or_two import one_stack
from transformer_lab.studies.one_stack_or_two.one_stack import (
    ARITHMETIC,
    BEST,
    BOTH,
    GRID,
    KINDS,
    NAME,
    ONE,
    RATES,
    SMALL,
    STEPS,
    TIME,
    TWO,
)
from transformer_lab.studies.one_stack_or_two.one_stack_scores import find_best_aligner
from transformer_lab.studies.one_stack_or_two.one_stack_translator import TwoStacks, write_greedily

SOURCE_WORDS, TARGET_WORDS = 23, 19
EXAMPLES = [
    Example([7, 5, 21, EOS_ID], [BOS_ID, 11, 4, 13, 9, 5, EOS_ID]),
    Example([4, 9, 9, 17, 6, 8, EOS_ID], [BOS_ID, 18, 6, EOS_ID]),
    Example([12, 5, EOS_ID], [BOS_ID, 7, 8, 16, EOS_ID]),
]
ONES = [kind for kind in KINDS if kind != TWO]


@pytest.fixture(params=KINDS)
def translator(request):
    return make(request.param)


def make(kind):
    torch.manual_seed(3)
    made = KINDS[kind](SOURCE_WORDS, TARGET_WORDS, norm="pre")
    for p in made.model.parameters():  # biases start at 0, where an error would hide
        torch.nn.init.normal_(p, std=0.2)
    made.model.eval()
    return made


def split(values):
    return values.split([len(e.target) - 1 for e in EXAMPLES])


def changed(example, side, place):
    ids = list(getattr(example, side))
    ids[place] += 1
    sides = {"source": example.source, "target": example.target, side: ids}
    return Example(sides["source"], sides["target"])


def test_what_is_stored_is_the_whole_grid():
    stored = store.load(NAME)
    assert [run["setting"] for run in stored["runs"]] == [*SMALL, *GRID]
    assert stored["command"] == f"python -m {one_stack.__name__}"


def test_one_stack_has_as_many_parameters_as_two():
    sizes = defaultdict(list)
    for run in store.load(NAME)["runs"]:
        if "kind" in run["setting"]:
            sizes[run["setting"]["corpus"]].append(run["result"]["parameters"])
    assert set(sizes) == set(BEST)
    for counts in sizes.values():
        assert max(counts) < 1.005 * min(counts)


@pytest.mark.parametrize("corpus", BEST)
def test_the_budgets_are_what_was_measured(corpus):
    setting = {"cost": "training", "corpus": corpus}
    costs = next(r["result"] for r in store.load(NAME)["runs"] if r["setting"] == setting)
    two, one = costs[TWO], costs[ONE]
    assert one["flops"] == costs[BOTH]["flops"]
    assert ARITHMETIC[corpus] == round(STEPS[corpus] * two["flops"] / one["flops"])
    ratios = [a / b for a, b in zip(one["seconds"], two["seconds"], strict=True)]
    assert TIME[corpus] == round(STEPS[corpus] / median(ratios))


def test_the_rates_are_the_best_that_were_tried():
    choice = [r for r in store.load(NAME)["runs"] if r["setting"].get("seed") == 5]
    for corpus, kinds in BEST.items():
        for kind, best in kinds.items():
            losses = {
                r["setting"]["rate"]: r["result"]["loss"]
                for r in choice
                if (r["setting"]["corpus"], r["setting"]["kind"]) == (corpus, kind)
            }
            assert set(losses) == set(RATES)
            assert min(losses, key=losses.get) == best


def test_the_words_that_are_asked_for_are_those_of_the_translation(translator):
    logits, answers = translator.logits(EXAMPLES)
    assert [ids.tolist() for ids in split(answers)] == [e.target[1:] for e in EXAMPLES]
    assert len(logits) == len(answers)


def test_an_example_does_not_depend_on_its_batch(translator):
    together = split(translator.logits(EXAMPLES)[0])
    for example, logits in zip(EXAMPLES, together, strict=True):
        torch.testing.assert_close(translator.logits([example])[0], logits, atol=1e-4, rtol=1e-4)


def test_no_word_is_predicted_from_itself_or_a_later_one(translator):
    example = EXAMPLES[0]
    before = translator.logits([example])[0]
    for place in range(1, len(example.target) - 1):
        after = translator.logits([changed(example, "target", place)])[0]
        torch.testing.assert_close(after[:place], before[:place])
        assert not torch.allclose(after[place], before[place])


def test_every_word_is_predicted_from_the_whole_source(translator):
    example = EXAMPLES[1]
    before = translator.logits([example])[0]
    for place in range(len(example.source)):
        after = translator.logits([changed(example, "source", place)])[0]
        assert ((after - before).abs().amax(dim=1) > 1e-5).all()


@pytest.mark.parametrize("kind", ONES)
def test_only_a_prefix_is_read_both_ways(kind):
    model, example = make(kind).model, EXAMPLES[1]
    ids = torch.tensor([example.source + example.target])
    other = ids.clone()
    other[0, 5] += 1  # the last word of the source
    before, after = (model.stack(model.embed(i), model.mask(i))[0] for i in (ids, other))
    moved = (after - before).abs().amax(dim=1) > 1e-6
    assert moved[5:].all()
    assert bool(moved[:5].all()) == (kind == BOTH)
    assert bool(moved[:5].any()) == (kind == BOTH)


def test_vocabularies_of_one_size_are_one():
    shared = KINDS[ONE](SOURCE_WORDS, SOURCE_WORDS)
    ids, _ = shared.sequences(EXAMPLES[:1])
    assert ids.tolist() == [EXAMPLES[0].source + EXAMPLES[0].target[:-1]]
    two = KINDS[TWO](SOURCE_WORDS, SOURCE_WORDS).model
    assert shared.model.embedding.weight.shape == two.target_embedding.weight.shape
    assert two.source_embedding.weight is two.target_embedding.weight


@torch.no_grad()
def test_step_by_step_gives_what_a_whole_pass_gives(translator):
    for example in EXAMPLES:
        whole = translator.logits([example])[0][:, :TARGET_WORDS]
        cache = translator.read(torch.tensor([example.source]))
        for word, expected in zip(example.target[:-1], whole, strict=True):
            logits, cache = translator.step(torch.tensor([word]), cache)
            torch.testing.assert_close(logits[0], expected, atol=1e-4, rtol=1e-4)


@pytest.mark.thorough(caught_by=["test_step_by_step_gives_what_a_whole_pass_gives"])
@torch.no_grad()
def test_what_is_written_is_the_most_probable_word_at_each_step(translator):
    sources = [e.source for e in EXAMPLES]
    for source, words in zip(sources, write_greedily(translator, sources), strict=True):
        assert len(words) <= len(source) + 50
        assert EOS_ID not in words
        ended = [*words, EOS_ID] if len(words) < len(source) + 50 else words
        logits = translator.logits([Example(source, [BOS_ID, *ended])])[0][:, :TARGET_WORDS]
        assert logits.argmax(dim=-1).tolist()[: len(ended)] == ended


def test_a_translator_can_end(translator):
    with torch.no_grad():
        translator.model.output.bias[EOS_ID] = 1e6
    assert write_greedily(translator, [e.source for e in EXAMPLES]) == [[], [], []]


def test_its_looks_are_rows_of_the_translation_on_words_of_the_source(translator):
    example = EXAMPLES[0]
    maps = translator.looks(example)
    steps, source = len(example.target) - 1, len(example.source)
    assert {layer.shape for layer in maps} == {(4, steps, source)}
    totals = [layer.sum(axis=-1) for layer in maps]
    if isinstance(translator, TwoStacks):
        assert all(abs(total - 1).max() < 1e-5 for total in totals)
    else:
        assert all((total < 1).all() for total in totals)


@torch.no_grad()
@pytest.mark.parametrize("kind", ONES)
def test_the_looks_of_the_first_layer_are_its_scores_by_hand(kind):
    one, example = make(kind), EXAMPLES[2]
    ids = torch.tensor([[i + TARGET_WORDS for i in example.source] + example.target[:-1]])
    layer = one.model.stack.layers[0]
    x = layer.add_norm_1.layer_norm(one.model.embed(ids))
    attention = layer.self_attention
    query, key = (attention.split(w(x))[0] for w in (attention.w_q, attention.w_k))
    scores = query @ key.transpose(1, 2) / query.size(-1) ** 0.5
    n = len(example.source)
    for step in range(len(example.target) - 1):
        seen = scores[:, n + step, : n + step + 1].softmax(dim=-1)[:, :n]
        torch.testing.assert_close(torch.from_numpy(one.looks(example)[0][:, step]), seen)


def test_the_aligner_is_measured_on_sentences_it_was_not_chosen_on():
    # Head 2.1 is right in every second sentence and wrong in the others.
    errors = np.array([[[0.9, 0.2], [0.0, 0.7]], [[0.9, 0.3], [1.0, 0.7]]] * 5)
    assert find_best_aligner(errors) == {"aligner": "2.1", "alignment_error": 1.0}
