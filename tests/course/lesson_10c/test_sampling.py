"""What lesson 10c asks about drawn words: the shares come out right, and ties are left open."""

import pytest
import torch

from transformer_lab.course.lessons.lesson_10c import check


def test_kept_or_drawn_anew_every_word_has_the_large_models_probability():
    for p, q in check.keep_or_redraw.cases():
        kept, instead = check.keep_or_redraw.reference(p, q)
        from_the_draft = (q * kept).where(q > 0, 0.0)
        rejected = 1 - from_the_draft.sum(dim=-1, keepdim=True)
        assert torch.allclose(from_the_draft + rejected * instead, p, atol=1e-12)


@pytest.mark.parametrize("first", [True, False])
def test_which_of_equally_probable_words_stay_is_left_open(first):
    def kept(logits, p):
        turned = logits if first else logits.flip(-1)
        ordered, words = turned.sort(dim=-1, descending=True, stable=True)
        shares = ordered.softmax(-1)
        cut = ordered.masked_fill(shares.cumsum(-1) - shares >= p, -torch.inf)
        found = torch.empty_like(logits).scatter(-1, words, cut)
        return found if first else found.flip(-1)

    assert check.keep_top_p.verdict(kept).right
