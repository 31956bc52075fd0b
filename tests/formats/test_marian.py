"""Checkpoints in the real format, made and trained here by Transformers, against Transformers itself."""

import copy
import functools
import json
import math
import resource
import shutil
import sys
from itertools import islice

import numpy as np
import pytest
import torch

from tests.thorough import thorough_from
from transformer_lab.attention.capture import capture_attention
from transformer_lab.attention.record import Head
from transformer_lab.command.main import main
from transformer_lab.config import TrainingConfig
from transformer_lab.data.batching import pad
from transformer_lab.data.pair import Splits
from transformer_lab.data.tokenizer import Tokenizer, tokenizer_from_json
from transformer_lab.data.world.grammar import sentences
from transformer_lab.decoding import beam_search, greedy
from transformer_lab.formats import marian
from transformer_lab.formats.marian import interleave, load_marian
from transformer_lab.model.masks import length_mask
from transformer_lab.model.positions import sinusoids
from transformer_lab.runs.building import make_trainer
from transformer_lab.runs.evaluation import validation_loss
from transformer_lab.translator import Translator

pytestmark = pytest.mark.slow

transformers = pytest.importorskip("transformers", exc_type=ImportError)

SIZES = {
    "twelve": {
        "d_model": 12,
        "num_heads": 3,
        "d_ff": 31,
        "rate": 1e-2,
        "num_encoder_layers": 2,
        "num_decoder_layers": 1,
        "vocab_size": 211,
        "seed": 1,
    },
    "twenty": {
        "d_model": 20,
        "num_heads": 5,
        "d_ff": 29,
        "rate": 6e-3,
        "num_encoder_layers": 1,
        "num_decoder_layers": 3,
        "vocab_size": 173,
        "seed": 2,
    },
}


@functools.cache
def pairs():
    """600 to train on and 100 others; short, as a model learns in 200 steps where these end."""
    short = (pair for pair in sentences(seed=0) if len(pair.source.split()) < 6)
    drawn = list(islice(short, 700))
    return drawn[:600], drawn[600:]


class Both:
    """One checkpoint, read by Transformers and by us, and a padded batch of both languages."""

    def __init__(self, folder):
        self.folder = folder
        with marian.quiet_transformers():
            self.theirs = transformers.MarianMTModel.from_pretrained(
                folder, attn_implementation="eager"
            ).eval()
            self.tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
        self.translator = load_marian(folder, device="cpu")
        self.ours = self.translator.model
        self.pad = self.ours.config.pad_id
        source, target = self.translator.source_tokenizer, self.translator.target_tokenizer
        _, self.held_out = pairs()
        self.sources = [[*source.encode(p.source), 0] for p in self.held_out]
        self.targets = [[self.pad, *target.encode(p.target), 0] for p in self.held_out]
        assert len({len(s) for s in self.sources[:5]}) > 2

    def batch(self, count=5):
        """Ids, their lengths' mask as ours and as theirs, and what the decoder reads: pad first."""
        sources = self.sources[:count]
        ids = pad(sources, self.pad)
        mask = length_mask(torch.tensor([len(s) for s in sources]), ids.size(1))
        return ids, mask, pad(self.targets[:count], self.pad)

    def logits(self, theirs=None, count=5):
        """Those of theirs, without gradient."""
        ids, mask, read = self.batch(count)
        with torch.no_grad():
            return (theirs or self.theirs)(
                input_ids=ids,
                attention_mask=mask[:, 0, 0].long(),
                decoder_input_ids=read,
                output_attentions=True,
            )

    def generate(self, count, theirs=None, **how):
        """Their words, without the start token and without padding, and their scores."""
        ids, mask, _ = self.batch(count)
        theirs = theirs or self.theirs
        theirs.generation_config.forced_eos_token_id = None  # ours cuts at the limit
        out = theirs.generate(
            input_ids=ids,
            attention_mask=mask[:, 0, 0].long(),
            bad_words_ids=[[self.pad]],
            do_sample=False,
            max_new_tokens=23,
            max_length=None,
            return_dict_in_generate=True,
            output_scores=True,
            **how,
        )
        rows = [[i for i in row[1:].tolist() if i != self.pad] for row in out.sequences]
        return rows, out


@pytest.fixture(scope="session", params=thorough_from(1, SIZES))
def both(request, tmp_path_factory):
    from transformer_lab.formats.marian_checkpoint import make_marian_checkpoint

    folder = tmp_path_factory.mktemp(request.param)
    train, _ = pairs()
    return Both(make_marian_checkpoint(folder, train, **SIZES[request.param]))


def without_padding(logits, padding):
    """The logits of all that can be written."""
    return torch.cat([logits[..., :padding], logits[..., padding + 1 :]], dim=-1)


@pytest.mark.parametrize("d_model", [2, 6, 7, 12, 20, 512])
def test_the_order_turns_their_sinusoids_into_ours(d_model):
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    theirs = MarianSinusoidalPositionalEmbedding(53, d_model).create_weight()
    order = interleave(d_model)
    torch.testing.assert_close(theirs[:, order], sinusoids(53, d_model), atol=1e-7, rtol=0)
    assert sorted(order.tolist()) == list(range(d_model))


@torch.no_grad()
def test_logits_are_theirs(both):
    expected = without_padding(both.logits().logits, both.pad)
    found = both.ours(*reordered(both.batch()))
    assert torch.all(found[..., both.pad] == -torch.inf)
    torch.testing.assert_close(without_padding(found, both.pad), expected, atol=1e-4, rtol=0)


def reordered(batch):
    """The batch as our `forward` takes it: source, target, mask of the source."""
    ids, mask, read = batch
    return ids, read, mask


@torch.no_grad()
def test_logits_are_theirs_in_double_precision(both):
    """With one table of positions for both: theirs differs from ours by a rounding of float32."""
    with marian.quiet_transformers():
        theirs = transformers.MarianMTModel.from_pretrained(both.folder).eval()
    ours = marian.from_marian(theirs, unk_id=1).double()
    theirs.double()
    back = interleave(ours.config.d_model).argsort()
    for stack in (theirs.model.encoder, theirs.model.decoder):
        stack.embed_positions.weight.copy_(ours.source_positions.table.table[:, back])
    expected = without_padding(both.logits(theirs).logits, both.pad)
    found = without_padding(ours(*reordered(both.batch())), both.pad)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, expected, atol=1e-9, rtol=0)


def test_another_order_gives_other_logits(both, monkeypatch):
    expected = without_padding(both.logits().logits, both.pad)
    monkeypatch.setattr(marian, "interleave", lambda d: interleave(d).roll(2))
    monkeypatch.setattr(torch, "allclose", lambda *_, **__: True)  # past the check of the table
    with torch.no_grad():
        found = marian.from_marian(both.theirs, unk_id=1)(*reordered(both.batch()))
    assert (without_padding(found, both.pad) - expected).abs().max() > 0.1


@torch.no_grad()
def test_attention_weights_are_theirs(both):
    seen = both.logits()
    with capture_attention(both.ours) as capture:
        both.ours(*reordered(both.batch()))
    for ours, theirs in (
        (capture.encoder, seen.encoder_attentions),
        (capture.decoder, seen.decoder_attentions),
        (capture.cross, seen.cross_attentions),
    ):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b.numpy(), atol=1e-5)


def test_greedy_output_is_theirs(both):
    ids, mask, _ = both.batch(len(both.held_out))
    expected, _ = both.generate(len(both.held_out), num_beams=1)
    found = [list(h.ids) for h in greedy(both.ours, ids, mask, max_length=23)]
    assert found == expected
    assert len({len(row) for row in found}) > 2  # some end early, and leave the batch


@pytest.mark.parametrize("more_eos", [0, 4])
@pytest.mark.parametrize("beam_size", [2, 5])
def test_beam_output_is_theirs_at_length_penalty_0(both, beam_size, more_eos):
    """Their `early_stopping="never"` is our rule: until nothing that is left can be the best.

    With 4 added to the logit of eos, beginnings end early and their places in the beam matter.
    """
    ids, mask, _ = both.batch(len(both.held_out))
    ours, theirs = copy.deepcopy(both.ours), copy.deepcopy(both.theirs)
    with torch.no_grad():
        ours.output.bias[0] += more_eos
        theirs.final_logits_bias[0, 0] += more_eos
    expected, out = both.generate(
        len(both.held_out),
        theirs,
        num_beams=beam_size,
        length_penalty=0.0,
        early_stopping="never",
        renormalize_logits=True,
    )
    beams = beam_search(
        ours, ids, mask, beam_size=beam_size, alpha=0.0, max_length=23, narrow=False
    )
    assert [list(beam[0].ids) for beam in beams] == expected
    scores = [beam[0].score for beam in beams]
    np.testing.assert_allclose(scores, out.sequences_scores.numpy(), atol=1e-4)
    first = [list(h.ids) for h in greedy(ours, ids, mask, max_length=23)]
    assert first != expected


def test_masks_come_from_lengths_and_not_from_ids(both):
    """The padding token inside a sentence is a word like others: it starts the decoder, too."""
    ids = [*both.sources[0][:2], both.pad, *both.sources[0][2:]]
    source = torch.tensor([ids])
    with torch.no_grad():
        expected = both.theirs.generate(
            input_ids=source,
            attention_mask=torch.ones_like(source),
            bad_words_ids=[[both.pad]],
            num_beams=1,
            max_new_tokens=11,
            max_length=None,
        )
    found, _ = greedy(both.ours, *both.translator.batch([ids, both.sources[1]]), max_length=11)
    assert list(found.ids) == expected[0, 1:].tolist()[: len(found.ids)]


@pytest.mark.parametrize("head", [("encoder", 0, 1), ("decoder", 0, 2), ("cross", 0, 0)])
def test_muting_a_head_is_deleting_its_columns(both, head):
    kind, layer, number = head
    with marian.quiet_transformers():
        theirs = transformers.MarianMTModel.from_pretrained(
            both.folder, attn_implementation="eager"
        ).eval()
    stack = theirs.model.encoder if kind == "encoder" else theirs.model.decoder
    block = stack.layers[layer]
    block = block.encoder_attn if kind == "cross" else block.self_attn
    width = both.ours.config.key_size
    with torch.no_grad():
        block.out_proj.weight[:, number * width : (number + 1) * width] = 0
        expected = without_padding(both.logits(theirs).logits, both.pad)
        with capture_attention(both.ours, mute=[Head(*head)]):
            found = both.ours(*reordered(both.batch()))
        plain = both.ours(*reordered(both.batch()))
    torch.testing.assert_close(without_padding(found, both.pad), expected, atol=1e-4, rtol=0)
    assert (without_padding(plain, both.pad) - expected).abs().max() > 0.01


TEXTS = [
    "Two  spaces, “quotes” … and ½",
    "漢字 in the middle",
    ">>fra<< the cat",
    "a <b> & c",
]


def test_tokenization_is_theirs(both):
    source, target = both.translator.source_tokenizer, both.translator.target_tokenizer
    assert isinstance(source, Tokenizer)
    assert source.vocab_size == target.vocab_size == len(both.tokenizer)
    for text in [*(pair.source for pair in both.held_out[:20]), *TEXTS]:
        expected = both.tokenizer(text).input_ids
        assert both.translator.encode(text) == expected
        assert [*target.encode(text), 0] == both.tokenizer(text_target=text).input_ids
        told = both.tokenizer.decode(expected, skip_special_tokens=True)
        assert source.decode(expected) == told
    for row in both.targets:
        assert target.decode(row) == both.tokenizer.decode(row, skip_special_tokens=True)


def test_what_a_reader_sees_of_the_tokens(both):
    source = both.translator.source_tokenizer
    ids = source.encode("the cat")
    assert "".join(source.tokens(ids)) == " the cat"
    assert source.tokens([0, 1, both.pad]) == ["</s>", "<unk>", "<pad>"]
    assert source.unknown("the 漢 cat") == ["漢"]
    assert source.unknown("the cat") == []
    # The signs of a special token are no special token.
    assert both.pad not in source.encode("<pad>")


def test_a_tokenizer_comes_back_from_its_description(both):
    target = both.translator.target_tokenizer
    again = tokenizer_from_json(target.to_json())
    assert [again.encode(p.target) for p in both.held_out] == [r[1:-1] for r in both.targets]
    broken = {**json.loads(target.to_json()), "model": "AAAA"}
    with pytest.raises(ValueError, match="the data is not a SentencePiece model"):
        tokenizer_from_json(json.dumps(broken))
    lacking = {k: v for k, v in target.ids.items() if k != "<pad>"}
    with pytest.raises(ValueError, match=r"vocabulary lacks '<pad>'"):
        tokenizer_from_json(json.dumps({**broken, "vocabulary": lacking}))


def test_it_translates_looks_and_is_saved_like_any_translator(both, tmp_path):
    texts = [p.source for p in both.held_out[:7]]
    together = both.translator.translate(texts, max_length=11)
    assert [both.translator.translate(text, max_length=11)[0].translation for text in texts] == [
        t.translation for t in together
    ]
    record = both.translator.attend(texts[0], top=3)
    (told,) = both.translator.translate(texts[0], beam_size=1)
    assert "".join(t for t in record.written_tokens if t != "</s>").strip() == told.translation
    assert record.target_tokens[0] == "<pad>"
    assert "<pad>" not in record.written_tokens
    both.translator.save(tmp_path)
    assert Translator.load(tmp_path, device="cpu").translate(texts, max_length=11) == together


def test_the_loss_is_that_of_their_logits(both):
    """The model's own ids count: its decoder starts with padding, and 0 is its end of a sentence."""
    logits = both.logits(count=len(both.held_out)).logits[:, :-1].clone()
    logits[..., both.pad] = -torch.inf  # which nobody can write
    written = both.batch(len(both.held_out))[2][:, 1:]
    written[written == both.pad] = -100
    wanted = torch.nn.functional.cross_entropy(logits.flatten(0, 1), written.flatten())
    assert validation_loss(both.translator, both.held_out) == pytest.approx(wanted.item(), rel=1e-4)


def test_a_saved_one_is_scored_on_a_file(both, tmp_path, capsys):
    both.translator.save(tmp_path / "opus")
    file, (train, _) = tmp_path / "pairs.tsv", pairs()
    text = "".join(f"{p.source}\t{p.target}\n" for p in train[:100])
    file.write_text(text, encoding="utf-8")
    asked = ("evaluate", "--model", str(tmp_path / "opus"), "--corpus", str(file))
    assert main([*asked, "--limit", "3", "--beam", "1", "--device", "cpu", "--json"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["sentences"] == 3
    assert 0 < result["loss"] < 10
    assert 0 <= result["bleu"] <= 100


def test_bad_input_and_training_are_refused(both):
    with pytest.raises(ValueError, match="expected at least one word"):
        both.translator.encode(" ")
    splits = Splits(pairs()[0], both.held_out, [])
    with pytest.raises(
        ValueError, match="pad_id, bos_id and eos_id are .*; expected 0, 1 and 2, which training"
    ):
        make_trainer(both.translator, splits, TrainingConfig(device="cpu"))


@pytest.fixture
def folder(both, tmp_path):
    """A copy of the checkpoint, to be damaged."""
    return shutil.copytree(both.folder, tmp_path / "copy")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"activation_function": "tanh"}, "activation_function is 'tanh'; expected 'relu', 'gelu'"),
        ({"model_type": "bart"}, "model_type is 'bart'; expected 'marian'"),
        ({"scale_embedding": False}, "scale_embedding is False; expected True"),
        ({"normalize_before": True}, "normalize_before is True; expected False"),
        ({"normalize_embedding": True}, "normalize_embedding is True; expected False"),
        ({"add_final_layer_norm": True}, "add_final_layer_norm is True; expected False"),
        ({"static_position_embeddings": False}, "static_position_embeddings is False"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is False; expected True"),
        (
            {"decoder_attention_heads": 1},
            "decoder_attention_heads is 1; expected [0-9]+, the same as encoder_attention_heads",
        ),
        (
            {"decoder_ffn_dim": 7},
            "decoder_ffn_dim is 7; expected [0-9]+, the same as encoder_ffn_dim",
        ),
        ({"eos_token_id": [0, 1]}, r"eos_token_id is \[0, 1\]; expected a single id"),
        ({"encoder_layers": "six"}, "config.json of .* cannot be read: .*encoder_layers"),
        ({"encoder_layers": 10**6}, "num_encoder_layers is 1000000; expected at most 10,000"),
        (
            {"decoder_layers": 997},
            "the model has .* parameters.*; expected at most .*, because the saved file is too small",
        ),
        (
            {"vocab_size": 10**9, "decoder_vocab_size": 10**9},
            "the model has .* parameters.*; expected",
        ),
        (
            {"encoder_ffn_dim": 7, "decoder_ffn_dim": 7},
            "some weights of .* have the wrong shape; expected the shapes that config.json",
        ),
    ],
)
def test_a_model_that_ours_cannot_be_is_refused_by_the_name_of_the_field(folder, changes, message):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(ValueError, match=message):
        load_marian(folder)


@pytest.mark.parametrize("name", [*marian.FILES, "model.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ValueError, match=f"folder is .*; expected a folder that contains {name}"):
        load_marian(folder)


def test_a_pickle_is_refused_with_the_line_that_converts_it(tmp_path):
    for name in ("config.json", "source.spm", "target.spm", "vocab.json", "pytorch_model.bin"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(
        ValueError, match="pytorch_model.bin is a pickle, which can run arbitrary code"
    ) as said:
        load_marian(tmp_path)
    assert f"M.from_pretrained('{tmp_path}').save_pretrained('{tmp_path}')" in str(said.value)
    assert "\n" not in str(said.value)


def test_no_code_and_no_pickle_of_a_checkpoint_is_asked_for(monkeypatch):
    asked = []

    def refuse(name, **options):
        asked.append(options)
        raise OSError("not in reach")

    monkeypatch.setattr(transformers.MarianConfig, "get_config_dict", refuse)
    with pytest.raises(ValueError, match="on the Hugging Face Hub. Transformers says: not in"):
        load_marian("somebody/something")
    said = {"model_type": "marian"}
    monkeypatch.setattr(transformers.MarianConfig, "get_config_dict", lambda *_, **__: (said, {}))
    monkeypatch.setattr("transformer_lab.formats.marian.check_config", lambda _: None)
    monkeypatch.setattr("transformer_lab.formats.marian.config_from_marian", lambda _: None)
    monkeypatch.setattr("transformer_lab.formats.marian.check_memory", lambda *_: None)
    monkeypatch.setattr(transformers.MarianMTModel, "from_pretrained", refuse)
    with pytest.raises(ValueError, match="not in reach"):
        load_marian("somebody/something")
    assert [options["trust_remote_code"] for options in asked] == [False, False]
    assert asked[1]["use_safetensors"]


def test_other_positions_are_refused(both):
    with marian.quiet_transformers():
        theirs = transformers.MarianMTModel.from_pretrained(both.folder)
    with torch.no_grad():
        theirs.model.decoder.embed_positions.weight[3] += 0.1
    with pytest.raises(ValueError, match="embed_positions has the wrong values"):
        marian.from_marian(theirs, unk_id=1)


def test_missing_weights_are_named(folder):
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    weights = load_file(path)
    del weights["model.encoder.layers.0.fc1.weight"]
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(ValueError, match=r"checkpoint lacks the weight .*fc1.weight"):
        load_marian(folder)


@pytest.mark.parametrize(
    "name", ["no/such/folder", "opuss", "./opuss", "/opuss", "~/opuss", "here/opuss"]
)
def test_a_mistyped_folder_is_refused_without_asking_the_hub(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(marian, "load_marian_config", lambda _: pytest.fail("the hub was asked"))
    with pytest.raises(
        ValueError, match=f"name_or_folder is '{name}'; expected an existing folder"
    ):
        load_marian(name)


def test_a_folder_of_the_other_format_is_refused_with_the_line_that_reads_it(both, tmp_path):
    both.translator.save(tmp_path / "ours")
    with pytest.raises(
        ValueError, match=r"was saved by this package; load it with Translator.load"
    ):
        load_marian(tmp_path / "ours")
    with pytest.raises(ValueError, match=r"a Transformers model; .* call load_marian\('.*'\).save"):
        Translator.load(both.folder)


@pytest.mark.parametrize("name", [*marian.FILES, "model.safetensors"])
def test_a_file_that_git_has_not_fetched_is_named(folder, name):
    (folder / name).write_bytes(
        b"version https://git-lfs.example/spec/v1\noid sha256:4d7a\nsize 99\n"
    )
    with pytest.raises(ValueError, match=f"{name} is a Git LFS pointer, .* `git lfs pull`"):
        load_marian(folder)


# ---------------------------------------------------------------- what people do to checkpoints

TEXT = "the cat sees <new> and >>fra<< two dogs<new>"


def same_translations(folder, both, texts=None):
    """What comes out of a checkpoint is what came out of the one it was made from."""
    texts = texts or [pair.source for pair in both.held_out[:11]]
    found, expected = (
        [one.translation for one in translator.translate(texts, max_length=11)]
        for translator in (load_marian(folder, device="cpu"), both.translator)
    )
    return found == expected


def test_a_home_in_a_path_is_found(both, folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    assert same_translations("~/copy", both)
    with pytest.raises(ValueError, match="the path '~nobody.at.all/opus' cannot be resolved"):
        load_marian("~nobody.at.all/opus")


def saved_again(folder, change):
    """The checkpoint, changed by Transformers, which writes it anew."""
    with marian.quiet_transformers():
        model = transformers.MarianMTModel.from_pretrained(folder)
        tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
        change(model, tokenizer)
    return model, tokenizer


def test_weights_in_several_files_are_read(both, folder):
    (folder / "model.safetensors").unlink()
    with marian.quiet_transformers():
        saved_again(both.folder, lambda m, _: m.save_pretrained(folder, max_shard_size="9KB"))
    assert len(list(folder.glob("model-*.safetensors"))) > 2
    assert not (folder / "model.safetensors").exists()
    assert same_translations(folder, both)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "index.json is damaged"),
        (b"[]", "index.json is damaged"),
        (b'{"weight_map": 3}', "index.json is damaged"),
        (b'{"weight_map": {"a": "gone.safetensors"}}', "index.json is 'gone.safetensors'"),
        (b'{"weight_map": {"a": "../copy/vocab.json"}}', "index.json is '../copy/vocab.json'; exp"),
        (
            b'{"weight_map": {"a": [1]}}',
            "index.json is '.1.'; expected the name of a file in the same",
        ),
        (b'{"weight_map": {}}', "expected a folder that contains model.safetensors"),
    ],
)
def test_an_index_of_files_that_are_not_there_is_refused(folder, content, message):
    (folder / "model.safetensors").unlink()
    (folder / marian.INDEX).write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        load_marian(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("multiple", [1, 7, 64])
def test_embeddings_with_rows_that_no_token_has_translate_the_same(both, folder, multiple):
    def longer(model, tokenizer):
        size = multiple * (len(tokenizer) // multiple + 1)
        model.resize_token_embeddings(size)
        model.final_logits_bias[0, len(tokenizer) :] = 99.0  # theirs would write nothing else
        model.save_pretrained(folder)

    model, tokenizer = saved_again(both.folder, longer)
    ours = load_marian(folder, device="cpu").model
    words = ours.config.target_vocab_size
    assert words == model.config.vocab_size > len(tokenizer)
    assert (ours.output.bias[len(tokenizer) :] == -torch.inf).all()
    assert same_translations(folder, both)
    with torch.no_grad():
        found = ours(*reordered(both.batch()))[..., : len(tokenizer)]
        expected = both.ours(*reordered(both.batch()))
    torch.testing.assert_close(found, expected)


def with_new_tokens(folder, to, special, legacy):
    """Two added tokens with weights of their own; "legacy" is a file that older versions write."""

    def add(model, tokenizer):
        new = transformers.AddedToken(">>fra<<", special=special, normalized=False)
        tokenizer.add_tokens(["<new>", "<newer>"])
        tokenizer.add_tokens([new])
        torch.manual_seed(0)
        model.resize_token_embeddings(len(tokenizer))
        model.save_pretrained(to)
        if not legacy:
            tokenizer.save_pretrained(to)
            return
        later = {t.content: i for i, t in tokenizer.added_tokens_decoder.items()}
        later = {name: i for name, i in later.items() if i >= tokenizer.vocab_size}
        (to / "added_tokens.json").write_text(json.dumps(later), encoding="utf-8")

    return saved_again(folder, add)


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("special", [False, True])
def test_tokens_that_were_added_are_theirs(both, folder, tmp_path, special, legacy):
    theirs, _ = with_new_tokens(both.folder, folder, special, legacy)
    ours = load_marian(folder, device="cpu")
    with marian.quiet_transformers():
        tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    source, target = ours.source_tokenizer, ours.target_tokenizer
    assert source.vocab_size == len(tokenizer) == len(both.tokenizer) + 3
    ours.save(tmp_path / "saved")
    again = Translator.load(tmp_path / "saved", device="cpu")
    texts = [
        TEXT,
        "<new>",
        " <new> the <newer>",
        "the cat",
        "<<new>>",
        "<newer><new>cat",
        ">>fra<< a",
    ]
    for text in texts:
        expected = tokenizer(text).input_ids
        assert ours.encode(text) == again.encode(text) == expected, text
        assert [*target.encode(text), 0] == tokenizer(text_target=text).input_ids
        told = tokenizer.decode(expected, skip_special_tokens=True)
        assert source.decode(expected) == told
    ids = torch.tensor([ours.encode(TEXT)])
    read = torch.tensor([[ours.model.config.bos_id, *target.encode("le <new> chat")]])
    with torch.no_grad():
        found = without_padding(ours.model(ids, read), both.pad)
        expected = without_padding(theirs.eval()(ids, decoder_input_ids=read).logits, both.pad)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
    assert again.translate(TEXT, max_length=11) == ours.translate(TEXT, max_length=11)


def test_added_tokens_go_out_again(both, folder, tmp_path):
    from transformer_lab.formats.to_transformers import to_transformers

    with_new_tokens(both.folder, folder, special=False, legacy=True)
    ours = load_marian(folder, device="cpu")
    to_transformers(ours, tmp_path / "out")
    again = load_marian(tmp_path / "out", device="cpu")
    assert (
        again.source_tokenizer.added
        == ours.source_tokenizer.added
        == dict.fromkeys(["<new>", "<newer>", ">>fra<<"], False)
    )
    assert again.encode(TEXT) == ours.encode(TEXT)


def test_an_added_token_that_takes_spaces_along_is_refused(both, folder):
    def add(model, tokenizer):
        tokenizer.add_tokens([transformers.AddedToken("<new>", rstrip=True)])
        model.resize_token_embeddings(len(tokenizer))
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    saved_again(both.folder, add)
    with pytest.raises(
        ValueError,
        match=r"added token '<new>' has lstrip, rstrip or single_word set; expected",
    ):
        load_marian(folder)


def test_a_model_that_is_less_than_its_file_is_refused(folder):
    path = folder / "config.json"
    found = json.loads(path.read_text())
    name = "encoder_layers" if found["encoder_layers"] > 1 else "decoder_layers"
    path.write_text(json.dumps({**found, name: 1}))
    with pytest.raises(
        ValueError, match=r"contains the weight model.*layers.*, which the model does not use"
    ):
        load_marian(folder)


HOSTILE = {
    "vocab.json": [b"", b"{", b"[]", b"3", b'{"<unk>": "one"}', b'{"<unk>": [1]}', b"\xff" * 9],
    "source.spm": [b"", b"no model", bytes(300)],
    "target.spm": [b"", b"no model", bytes(300)],
    "config.json": [b"", b"{", b"[]", b'{"model_type": "marian"}', b'{"model_type": 3}', b"\xff"],
    "added_tokens.json": [b"{", b"[]", b"3", b'{"a": "b"}', b'{"a": 1000000}', b'{"a": null}'],
    "tokenizer_config.json": [b"{", b"[]", b'{"unk_token": 3}', b'{"separate_vocabs": true}'],
    "model.safetensors": [b"", b"{", bytes(300), b"\xff" * 300, (2**62).to_bytes(8, "little") * 9],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, i) for name, all_ in HOSTILE.items() for i in range(len(all_))]
)
def test_a_damaged_file_is_one_error_in_one_line(folder, name, number):
    (folder / name).write_bytes(HOSTILE[name][number])
    with pytest.raises(ValueError, match=".") as error:
        load_marian(folder)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("name", ["vocab_size", "d_model", "max_position_embeddings"])
@pytest.mark.parametrize("value", [0, -1, None, "six", 2.5, [3], True, 10**6, 10**12, 10**30])
def test_a_size_that_is_not_the_files_is_refused_before_memory_is_asked_for(folder, name, value):
    path, before = folder / "config.json", resident()
    changes = {name: value, **({"decoder_vocab_size": value} if name == "vocab_size" else {})}
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(ValueError, match=".") as error:
        load_marian(folder)
    assert "\n" not in str(error.value)
    assert resident() < before + 100_000_000


@pytest.mark.parametrize("value", [10**9, 10**30, -1, None, "two", 2.5, [2], True])
def test_as_many_names_as_a_file_asks_for_are_never_made(folder, value):
    """Transformers makes a name for each label of a classifier, which a translator has none of."""
    path, before = folder / "config.json", resident()
    path.write_text(json.dumps({**json.loads(path.read_text()), "num_labels": value}))
    with pytest.raises(ValueError, match="num_labels is .*; expected an integer from 0 to 10,000"):
        load_marian(folder)
    assert resident() < before + 100_000_000


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_weights_that_no_model_can_compute_with_are_named(folder, number):
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["model.encoder.layers.0.fc1.weight"][0, 0] = number
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(ValueError, match=r"encoder.* contains NaN or infinity; expected fin"):
        load_marian(folder)


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.int64, torch.bool])
def test_weights_that_are_whole_numbers_are_refused(folder, kind):
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    weights = load_file(path)
    name = "model.encoder.layers.0.fc1.weight"
    weights[name] = weights[name].to(kind)
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(ValueError, match=f"dtype of .*{name}.* in .*; expected 'F64', 'F32'"):
        load_marian(folder)


def resident():
    """The most memory that this process has ever had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_an_absent_package_says_how_to_get_it(both, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(
        ValueError, match="transformers is not installed. Install it with pip install"
    ):
        load_marian(both.folder)
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(
        ValueError, match="sentencepiece is not installed. Install it with pip install"
    ):
        tokenizer_from_json(both.translator.source_tokenizer.to_json())
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(
        ValueError, match=r"sentencepiece is not installed. Install it with .*\[marian\]"
    ):
        load_marian(both.folder)
