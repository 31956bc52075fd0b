"""Text in, text out: batches, bad input, files, and the record of a sentence."""

import json

import numpy as np
import pytest
import safetensors.torch
import torch

from tests.conftest import small_config
from tests.thorough import thorough_from
from transformer_lab.attention.record import Head
from transformer_lab.config import TrainingConfig
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.lab import lab
from transformer_lab.lab.changes import Changes, Point
from transformer_lab.lab.record_data import page_data
from transformer_lab.model import Transformer
from transformer_lab.model.weights import save_weights
from transformer_lab.runs.card import CARD
from transformer_lab.storage.folder import DESCRIPTION, add_own_checksum, read_description
from transformer_lab.storage.tensors import (
    CheckpointError,
    check_sha256,
    load_tensors,
    save_tensors,
    weights_of,
)
from transformer_lab.translator import PRETRAINED, Translator

ENGLISH = "the cat sees a dog and runs to its small red house now".split()
FRENCH = "le chat voit un chien et court vers sa petite maison rouge maintenant oui non si".split()


def make_translator(seed: int = 0, **changes) -> Translator:
    source, target = WordTokenizer(ENGLISH), WordTokenizer(FRENCH)
    sizes = {"source_vocab_size": source.vocab_size, "target_vocab_size": target.vocab_size}
    torch.manual_seed(seed)
    model = Transformer(small_config(**{**sizes, "max_length": 31, **changes}))
    return Translator(model, source, target, about={"corpus": "made by hand"})


def test_it_says_how_large_it_is():
    model = make_translator()
    count = sum(parameter.numel() for parameter in model.model.parameters())
    sizes = f"{len(set(ENGLISH)) + 4} to {len(set(FRENCH)) + 4} tokens"
    assert repr(model) == f"<Translator of {sizes}; parameters: {count:,}>"


@pytest.fixture(scope="module")
def doubting():
    """The shipped model early in its training: it writes sentences, and is often in doubt."""
    return Translator.load(weights="step_00500", device="cpu")


@pytest.mark.slow
@pytest.mark.parametrize("beam_size", thorough_from(1, [1, 3]))
def test_translations_come_in_order_whatever_their_length(beam_size):
    translator = make_translator()
    texts = ["the cat sees a dog", "the dog", "a small red house runs to the cat now", "now"]
    together = translator.translate(texts, beam_size=beam_size)
    assert [t.source for t in together] == texts
    for text, found in zip(texts, together, strict=True):
        (alone,) = translator.translate(text, beam_size=beam_size)
        assert alone.translation == found.translation
        assert alone.score == pytest.approx(found.score, abs=1e-4)


def test_more_sentences_than_fit_at_once():
    translator = make_translator()
    texts = [" ".join(ENGLISH[: 1 + i % 7]) for i in range(131)]
    found = translator.translate(texts, beam_size=1, max_length=5)
    assert [t.source for t in found] == texts
    assert found[0].translation == found[126].translation


@pytest.mark.parametrize("beam_size", [1, 2, 5])
def test_a_score_is_the_log_probability_of_what_was_written(doubting, beam_size):
    texts = ["the wide road exhausted the horses", "i see a red house", "where is the old cat ?"]
    for found in doubting.translate(texts, beam_size=beam_size):
        asked = doubting.score(found.source, found.translation)
        assert found.score == pytest.approx(asked, abs=1e-4)
        assert found.score < -0.01  # or a length penalty would change nothing
        assert doubting.score(found.source, found.translation + " rue") < found.score - 1


def test_a_text_that_was_cut_says_so_and_its_score_has_no_end(doubting):
    source = "the wide road exhausted the horses"
    (whole,) = doubting.translate(source, beam_size=1)
    assert not whole.cut
    (cut,) = doubting.translate(source, beam_size=1, max_length=3)
    assert cut.cut
    record = doubting.attend(source, cut.translation)
    steps = [dict(tokens) for tokens in record.next_tokens]
    words = [steps[n][token] for n, token in enumerate(record.written_tokens[:3])]
    assert cut.score == pytest.approx(np.log(words).sum(), abs=1e-4)
    assert doubting.score(source, cut.translation) < cut.score - 1


@pytest.mark.parametrize("n", [1, 3, 8])
def test_n_best_are_n_different_ones_in_the_order_of_the_search(doubting, n):
    source = "the wide road exhausted the horses"
    found = doubting.n_best(source, n, alpha=0.0)
    assert len({t.translation for t in found}) == n
    assert [t.score for t in found] == sorted((t.score for t in found), reverse=True)
    (best,) = doubting.translate(source, beam_size=n, alpha=0.0)
    assert found[0].translation == best.translation
    assert found[0].score == pytest.approx(best.score, abs=1e-4)
    assert {t.source for t in found} == {source}


def test_samples_are_drawn_by_seed_and_cut_by_name():
    translator = make_translator()
    texts = ["the cat sees a dog", "the dog", "now"] * 5
    drawn = [translator.sample(texts, seed=seed, max_length=7) for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert [t.source for t in drawn[0]] == texts
    assert len({t.translation for t in drawn[0]}) > 3
    greedy = [t.translation for t in translator.translate(texts, beam_size=1, max_length=7)]
    for sure in ({"top_k": 1}, {"top_p": 1e-9}, {"temperature": 1e-4}):
        found = translator.sample(texts, max_length=7, **sure)
        assert [t.translation for t in found] == greedy


def test_unknown_words_are_reported():
    (found,) = make_translator().translate("the zebra runs")
    assert found.unknown == ("zebra",)


def test_unknown_words_of_a_target_are_reported():
    translator = make_translator()
    for ask in (translator.score, translator.attend):
        with pytest.warns(
            UserWarning, match="^The model does not know zèbre, rit, and reads <unk> instead.$"
        ):
            ask("the cat", "le zèbre rit")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("le\0chat", "target contains a NUL byte; expected text"),
        ("le " * 100, "target has 100 tokens; expected at most 30"),
    ],
)
def test_a_bad_target_is_refused_in_one_line(text, message):
    translator = make_translator()
    for ask in (translator.score, translator.attend):
        with pytest.raises(ValueError, match=message):
            ask("the cat", text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "source is ''; expected at least one word"),
        ("   ", "expected at least one word"),
        ("the " * 10_000, "source has 10000 tokens; expected at most 30"),
        ("the\0cat", "source contains a NUL byte; expected text"),
        ("🙂 🙂", "the model knows none of its words"),
        ("שלום עולם", "the model knows none of its words"),
    ],
)
def test_bad_input_is_refused_in_one_line(text, message):
    translator = make_translator()
    with pytest.raises(ValueError, match=message) as caught:
        translator.translate(text)
    assert len(str(caught.value)) < 200
    with pytest.raises(ValueError, match="source 2"):
        translator.translate(["the cat", text])


def test_attend_records_the_greedy_translation():
    translator = make_translator()
    record = translator.attend("the cat runs", top=3)
    (expected,) = translator.translate("the cat runs", beam_size=1)
    words = [w for w in record.written_tokens if w != "<eos>"]
    assert (
        translator.target_tokenizer.decode([translator.target_tokenizer.ids[w] for w in words])
        == expected.translation
    )
    assert record.source_tokens == ("the", "cat", "runs", "<eos>")
    assert record.target_tokens == ("<bos>", *record.written_tokens[:-1])
    assert record.cross[0].shape == (3, len(record.written_tokens), 4)
    for step, word in enumerate(record.written_tokens):
        best, probability = record.next_tokens[step][0]
        assert best == word
        assert 0 < probability < 1
        assert len(record.next_tokens[step]) == 3


def test_attend_names_the_words_that_it_does_not_know():
    translator = make_translator()
    assert translator.attend("the zebra runs").unknown == ("zebra",)
    assert translator.attend("the cat runs").unknown == ()


def test_attend_takes_a_given_translation_and_facts():
    translator = make_translator()
    record = translator.attend("the cat", "le chat", alignment=((0, 0), (1, 1)), label="by hand")
    assert record.written_tokens == ("le", "chat", "<eos>")
    assert record.alignment == ((0, 0), (1, 1))
    assert record.label == "by hand"


def test_attend_refuses_a_misspelt_argument_before_the_model_runs(monkeypatch):
    translator = make_translator()
    passes = []
    monkeypatch.setattr(translator.model, "encode", lambda *a: passes.append(a))
    with pytest.raises(TypeError, match="unexpected keyword argument 'beam_size'"):
        translator.attend("the cat", beam_size=1)
    with pytest.raises(ValueError, match="top is 0; expected an integer of at least 1"):
        translator.attend("the cat", top=0)
    assert passes == []


def test_attend_mutes_and_patches():
    translator = make_translator()
    head = Head("cross", 0, 1)
    plain = translator.attend("the cat runs", "le chat court")
    muted = translator.attend("the cat runs", "le chat court", mute=[head])
    assert muted.muted == {head}
    np.testing.assert_allclose(muted.weights(head), plain.weights(head), atol=1e-6)
    assert muted.next_tokens != plain.next_tokens
    last = np.zeros((4, 4))
    last[:, -1] = 1
    patched = translator.attend("the cat runs", "le chat court", patch={head: last})
    np.testing.assert_array_equal(patched.weights(head), last)
    assert patched.next_tokens != plain.next_tokens


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_translator_in_half_precision_attends_and_is_explored(dtype):
    translator = make_translator()
    translator.model.to(dtype)
    record = translator.attend("the cat sees a dog and runs", "le chat voit")
    head = Head("encoder", 1, 0)
    again = translator.attend(
        "the cat sees a dog and runs", "le chat voit", patch={head: record.weights(head)}
    )
    np.testing.assert_array_equal(again.weights(head), record.weights(head))
    data = page_data([record])["records"][0]
    assert json.dumps(data, allow_nan=False)
    widget = lab(translator, "the cat", kernel=True)
    point = Point(Head("encoder", 0, 1), query=0, key=2)
    (pointed,), _ = widget.answer("the cat", Changes(), Changes(points=(point,)))
    assert pointed.weights(Head("encoder", 0, 1))[0].tolist() == [0, 0, 1]


def test_a_saved_translator_comes_back_the_same(tmp_path):
    translator = make_translator(norm="pre", positions="rotary", d_k=6)
    translator.save(tmp_path / "new" / "folder")
    again = Translator.load(tmp_path / "new" / "folder", device="cpu")
    assert again.about == {"corpus": "made by hand"}
    assert again.translate("the cat sees a dog") == translator.translate("the cat sees a dog")


def test_half_precision_on_disk_and_snapshots(tmp_path):
    translator = make_translator()
    translator.save(tmp_path, dtype=torch.float16)
    save_weights(make_translator(seed=1).model, tmp_path / "step_00010.safetensors")
    save_weights(make_translator(seed=2).model, tmp_path / "step_00200.safetensors")
    assert Translator.snapshots(tmp_path) == {10: "step_00010", 200: "step_00200"}
    early = Translator.load(tmp_path, weights="step_00010", device="cpu")
    expected = make_translator(seed=1).model.output.weight
    assert torch.equal(early.model.output.weight, expected)
    rounded = Translator.load(tmp_path, device="cpu").model.output.weight
    torch.testing.assert_close(rounded, translator.model.output.weight, rtol=1e-3, atol=1e-4)


def test_saving_never_overwrites_a_model_unasked(tmp_path):
    make_translator(seed=0).save(tmp_path)
    before = (tmp_path / "model.safetensors").read_bytes()
    with pytest.raises(ValueError, match="already holds a model"):
        make_translator(seed=1).save(tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == before
    make_translator(seed=1).save(tmp_path, overwrite=True)
    assert (tmp_path / "model.safetensors").read_bytes() != before


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_save_that_fails_leaves_the_old_model_whole(tmp_path, monkeypatch):
    make_translator().save(tmp_path)
    save_weights(make_translator(seed=2).model, tmp_path / "step_00010.safetensors")
    before = contents(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        make_translator(seed=1, norm="pre", d_ff=37).save(tmp_path, overwrite=True)
    assert contents(tmp_path) == before


def test_the_snapshots_of_the_old_model_go_with_it(tmp_path):
    """They would be offered as the new one's, and would not fit it."""
    save_weights(make_translator().model, tmp_path / "step_00010.safetensors")
    make_translator().save(tmp_path)
    assert Translator.snapshots(tmp_path) == {10: "step_00010"}  # its own: they were there first
    make_translator(d_ff=37).save(tmp_path, overwrite=True)
    assert Translator.snapshots(tmp_path) == {}
    assert Translator.load(tmp_path, device="cpu").model.config.d_ff == 37
    assert sorted(contents(tmp_path)) == sorted({*DESCRIPTION, "model.safetensors"})


def damage_truncate(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def damage_config(folder):
    (folder / "config.json").write_text("{")


def damage_format(folder):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": "other 9"}))


def damage_sizes(folder):
    change_description(folder, d_ff=37)


def forget_sums(folder):
    """As a folder that an older version wrote."""
    path = folder / "config.json"
    description = json.loads(path.read_text())
    del description["sha256"]
    path.write_text(json.dumps(description))


def damage_one_bit(folder):
    path = folder / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def damage_swapped(folder):
    (folder / "target_tokenizer.json").write_bytes((folder / "source_tokenizer.json").read_bytes())


def change_description(folder, **model):
    path = folder / "config.json"
    description = json.loads(path.read_text())
    description["model"] |= model
    path.write_text(json.dumps(add_own_checksum(description)))


def damage_depth(folder):
    """35 seconds and six gigabytes, before anybody looked at the weights."""
    change_description(folder, num_encoder_layers=10_000)


def damage_width(folder):
    change_description(folder, d_model=10**9, num_heads=1)


def damage_nested(folder):
    (folder / "config.json").write_text("[" * 100_000)


def damage_about(folder):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "about": [1]}))


def damage_list(folder):
    (folder / "config.json").write_text("[]")


def damage_tokenizer(folder):
    forget_sums(folder)
    (folder / "target_tokenizer.json").write_text("[]")


def damage_vocabulary(folder):
    forget_sums(folder)
    (folder / "target_tokenizer.json").write_text(WordTokenizer(["oui"]).to_json())


POINTER = b"version https://git-lfs.example/spec/v1\noid sha256:4d7a\nsize 99\n"
DAMAGES = {
    damage_truncate: "model.safetensors is damaged",
    damage_config: "config.json is damaged",
    damage_format: "format is 'other 9'; expected 'transformer_lab 1'",
    damage_sizes: r"a different configuration: .*feed_forward.* is \(.*\); expected \(",
    damage_tokenizer: "target_tokenizer.json: a field of the tokenizer's description is missing or has",
    damage_vocabulary: "the tokenizers have .* tokens, but the model",
    damage_one_bit: "model.safetensors is damaged: its content has changed since it was saved",
    damage_swapped: "target_tokenizer.json is damaged: its content has changed since it was saved",
    damage_depth: "the model has .* parameters.*; expected .*, because the saved file is too small",
    damage_width: "d_model × num_heads × d_k is .*; expected at most 1,000,000,000,000",
    damage_nested: "config.json is damaged: maximum recursion depth",
    damage_about: "config.json is damaged: 'about' is of type list; expected a dict",
    damage_list: "config.json is damaged: the JSON value is of type list; expected a dict",
    lambda folder: (folder / "model.safetensors").write_bytes(
        POINTER
    ): "is a Git LFS pointer, which",
    lambda folder: (folder / "model.safetensors").unlink(): "model.safetensors does not exist",
    lambda folder: (folder / "config.json").unlink(): "no config.json; expected the folder",
    lambda folder: (
        folder / "source_tokenizer.json"
    ).unlink(): "source_tokenizer.json does not exist",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_refused_by_the_name_of_the_file(damage, tmp_path):
    make_translator().save(tmp_path)
    Translator.load(tmp_path)
    damage(tmp_path)
    with pytest.raises(CheckpointError, match=DAMAGES[damage]):
        Translator.load(tmp_path)


def test_tokenizers_of_another_vocabulary_are_refused():
    translator = make_translator()
    with pytest.raises(ValueError, match="the tokenizers have .* tokens, but the model"):
        Translator(translator.model, translator.target_tokenizer, translator.source_tokenizer)


def test_a_flipped_bit_of_the_description_is_found_or_changes_nothing(tmp_path):
    """Nothing but the name of a sum is without one."""
    translator = make_translator()
    translator.save(tmp_path)
    path = tmp_path / "config.json"
    whole = path.read_bytes()
    found = 0
    for place in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 7)
        path.write_bytes(damaged)
        try:
            loaded = Translator.load(tmp_path)
        except CheckpointError as error:
            found += "config.json is damaged" in str(error)
        else:
            assert loaded.model.config == translator.model.config
            assert loaded.about == translator.about
    assert found > 0.8 * len(whole) / 5


def test_any_flipped_bit_of_any_other_file_is_found(tmp_path):
    make_translator().save(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("model.safetensors", "source_tokenizer.json", "target_tokenizer.json"):
        path = tmp_path / name
        whole = path.read_bytes()
        for place in rng.integers(0, len(whole), 12):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(damaged)
            with pytest.raises(CheckpointError, match=f"{name} is damaged"):
                Translator.load(tmp_path)
        path.write_bytes(whole)
    Translator.load(tmp_path)


def test_a_folder_without_sums_loads_and_its_weights_have_their_own(tmp_path):
    make_translator().save(tmp_path)
    forget_sums(tmp_path)
    assert Translator.load(tmp_path).about == {"corpus": "made by hand"}
    path = tmp_path / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-40] + b"\0" * 40)  # a tail of zeros, as after a power cut
    with pytest.raises(CheckpointError, match="model.safetensors is damaged: its content has"):
        Translator.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.fill_(torch.nan), "output.weight contains NaN or infinity; expected finite"),
        (lambda t: t.fill_(-torch.inf), "output.weight contains NaN or infinity"),
        (
            lambda t: t.to(torch.int32),
            "output.weight holds int32; expected float32, float16, bfloat16 or",
        ),
        (lambda t: t > 0, "output.weight holds bool; expected float32, float16, bfloat16 or"),
        (
            lambda t: t.to(torch.float8_e4m3fn),
            "output.weight holds float8_e4m3fn; expected float32",
        ),
        (lambda t: t[:-1], r"output.weight is \(19, 12\); expected \(20, 12\)"),
    ],
)
def test_weights_that_are_no_weights_are_named(tmp_path, change, message):
    translator = make_translator(tie_target_output=False)
    translator.save(tmp_path)
    forget_sums(tmp_path)
    tensors = {name: tensor.clone() for name, tensor in weights_of(translator.model).items()}
    tensors["output.weight"] = change(tensors["output.weight"])
    # As an older version, or another program, writes them: without a sum.
    header = {"meta": json.dumps({"format": "transformer_lab 1"})}
    safetensors.torch.save_file(tensors, tmp_path / "model.safetensors", metadata=header)
    with pytest.raises(CheckpointError, match=message):
        Translator.load(tmp_path)


def test_a_word_that_is_never_written_may_have_a_bias_of_minus_infinity(tmp_path):
    translator = make_translator()
    with torch.no_grad():
        translator.model.output.bias[0] = -torch.inf
    translator.save(tmp_path)
    assert Translator.load(tmp_path).model.output.bias[0] == -torch.inf


def test_weights_that_do_not_fit_into_half_precision_are_not_saved(tmp_path):
    translator = make_translator()
    with torch.no_grad():
        translator.model.output.weight[3, 5] = 1e6
    with pytest.raises(
        ValueError, match="contains NaN or infinity; expected finite numbers in float16"
    ):
        translator.save(tmp_path / "half", dtype=torch.float16)
    assert not list((tmp_path / "half").iterdir())
    translator.save(tmp_path / "whole")


def save_as_one_file(path, **changes):
    """The file's tensors and what describes it, to be changed and written again."""
    make_translator().save(path)
    tensors, description = load_tensors(path)
    save_tensors(path, tensors, {**description, **changes})
    return tensors, description


@pytest.mark.parametrize("name", ["whole.safetensors", "new/folder/of.it/whole.safetensors"])
def test_a_translator_that_is_one_file_comes_back_the_same(tmp_path, name):
    translator = make_translator(norm="pre", positions="rotary", d_k=6)
    translator.save(tmp_path / name)
    again = Translator.load(tmp_path / name, device="cpu")
    assert contents((tmp_path / name).parent).keys() == {"whole.safetensors"}
    assert again.about == {"corpus": "made by hand"}
    assert again.model.config == translator.model.config
    assert [t.to_json() for t in again.tokenizers] == [t.to_json() for t in translator.tokenizers]
    for weight, own in weights_of(again.model).items():
        assert torch.equal(own, weights_of(translator.model)[weight])
    translator.save(tmp_path / "twice.safetensors")
    assert (tmp_path / "twice.safetensors").read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize(
    ("corpus", "told"),
    [
        ("/home/ada/mine.tsv", "mine.tsv"),
        ("/home/ada/train@de,es", "train@de,es"),
        ("csv:/home/ada/mine.csv@en,fr", "csv:mine.csv@en,fr"),
        ("hf:/home/ada/set", "hf:set"),
        ("hf:group/set@en,fr", "hf:group/set@en,fr"),
        ("debian:fr", "debian:fr"),
        (None, None),
    ],
)
def test_one_file_does_not_tell_the_folder_that_its_corpus_was_in(tmp_path, corpus, told):
    translator, path = make_translator(), tmp_path / "whole.safetensors"
    translator.about = {"corpus": corpus}
    translator.save(path)
    assert Translator.load(path, device="cpu").about == {"corpus": told}
    assert b"/home/ada" not in path.read_bytes()
    assert translator.about == {"corpus": corpus}, "the translator itself still knows it"


def test_one_file_may_hold_half_precision(tmp_path):
    translator, path = make_translator(), tmp_path / "half.safetensors"
    translator.save(path, dtype=torch.float16)
    rounded = Translator.load(path, device="cpu").model.output.weight
    assert torch.equal(rounded, translator.model.output.weight.half().float())
    with torch.no_grad():
        translator.model.output.weight[3, 5] = 1e6
    before = path.read_bytes()
    with pytest.raises(
        ValueError, match="contains NaN or infinity; expected finite numbers in float16"
    ):
        translator.save(path, dtype=torch.float16, overwrite=True)
    assert path.read_bytes() == before


def test_a_file_is_overwritten_only_if_asked_and_only_a_translators(tmp_path):
    path = tmp_path / "whole.safetensors"
    make_translator(seed=0).save(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="already exists. Choose another name, or pass overwrite"):
        make_translator(seed=1).save(path)
    assert path.read_bytes() == before
    make_translator(seed=1).save(path, overwrite=True)
    assert path.read_bytes() != before
    make_translator().save(tmp_path / "folder")
    others = tmp_path / "other.safetensors"
    others.write_bytes(b"mine")
    for file in (others, tmp_path / "folder" / "model.safetensors"):
        before = file.read_bytes()
        with pytest.raises(
            ValueError, match="holds no translator that can be loaded, .* Choose another name"
        ):
            make_translator().save(file, overwrite=True)
        assert file.read_bytes() == before


def test_any_flipped_bit_of_a_single_file_is_found(tmp_path):
    path = tmp_path / "whole.safetensors"
    make_translator().save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 40):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match="whole.safetensors is damaged"):
            Translator.load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other 9"}, "is damaged: its format is 'other 9'; expected 'transformer_lab 1"),
        ({"about": [1]}, "is damaged: 'about' is of type list; expected a dict"),
        ({"model": {"d_model": 7}}, "cannot be loaded: .*lacks 'source_vocab_size'"),
        ({"target_tokenizer": []}, "cannot be read: a field of the tokenizer's description"),
        ({"target_tokenizer": {"kind": "word", "words": ["oui"], "joined": []}},
         "the tokenizers have .* tokens, but the model"),
    ],
)  # fmt: skip
def test_a_part_of_a_single_file_that_does_not_fit_is_named(tmp_path, changes, message):
    path = tmp_path / "whole.safetensors"
    save_as_one_file(path, **changes)
    with pytest.raises(CheckpointError, match=f"whole.safetensors:? {message}"):
        Translator.load(path)


def test_a_file_that_is_no_translator_says_what_is_missing(tmp_path):
    path = tmp_path / "whole.safetensors"
    with pytest.raises(CheckpointError, match="the checkpoint .*whole.safetensors does not exist"):
        Translator.load(path)
    tensors, description = save_as_one_file(path)
    with pytest.raises(ValueError, match="weights is 'step_7'; expected 'model', because a single"):
        Translator.load(path, weights="step_7")
    for name in ("model", "source_tokenizer", "target_tokenizer"):
        rest = {key: value for key, value in description.items() if key != name}
        save_tensors(path, tensors, rest)
        with pytest.raises(
            CheckpointError, match=f"has no '{name}' in its metadata; expected a saved tra"
        ):
            Translator.load(path)
    safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match=r"its metadata has no 'meta'"):
        Translator.load(path)
    del tensors["output.bias"]
    save_tensors(path, tensors, description)
    with pytest.raises(
        CheckpointError, match=r"output.bias is missing; expected a tensor of shape \(20,\)"
    ):
        Translator.load(path)


def test_the_shipped_model_has_the_sum_of_each_of_its_files():
    sums = read_description(PRETRAINED)["sha256"]
    assert sums.keys() == {p.name for p in PRETRAINED.iterdir()} - {CARD}
    for name in sums.keys() - {"config.json"}:
        check_sha256(PRETRAINED / name, sums[name])


@pytest.mark.parametrize("name", ["config.json", "source_tokenizer.json", "model.safetensors"])
def test_what_others_wrote_is_never_replaced(tmp_path, name):
    path = tmp_path / name
    path.write_text('{"model_type": "marian"}')
    for overwrite in (False, True):
        with pytest.raises(
            ValueError,
            match=f"contains {name}, but no translator that can be loaded. Choose another folder",
        ):
            make_translator().save(tmp_path, overwrite=overwrite)
    assert contents(tmp_path) == {name: b'{"model_type": "marian"}'}


def test_a_snapshot_of_somebody_elses_is_no_snapshot(tmp_path):
    make_translator().save(tmp_path)
    (tmp_path / "step_last.safetensors").write_bytes(b"mine")
    assert Translator.snapshots(tmp_path) == {}
    make_translator().save(tmp_path, overwrite=True)
    assert (tmp_path / "step_last.safetensors").read_bytes() == b"mine"


def test_a_file_that_is_named_like_a_snapshot_is_left_alone(tmp_path):
    mine = tmp_path / "step_7.safetensors"
    make_translator().save(tmp_path)
    mine.write_bytes(b"mine")
    for _ in range(2):
        make_translator().save(tmp_path, overwrite=True)
    assert mine.read_bytes() == b"mine"
    assert mine.name not in read_description(tmp_path)["sha256"]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_weights_with_which_nothing_can_be_computed_are_no_translation(beam_size):
    translator = make_translator()
    with torch.no_grad():
        for parameter in translator.model.parameters():
            parameter *= 1e30
    with pytest.raises(ValueError, match="the logits contain NaN, perhaps because the weights"):
        translator.translate("the cat", beam_size=beam_size)


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64, True])
def test_a_seed_that_no_random_numbers_have_is_named(seed):
    expected = r"expected an integer from 0 to 2\*\*63 - 1"
    with pytest.raises(ValueError, match=f"seed is .*; {expected}"):
        make_translator().sample("the cat", seed=seed)
    with pytest.raises(ValueError, match=f"seed is .*; {expected}"):
        TrainingConfig(seed=seed)


def test_who_may_write_no_word_at_all_is_no_model(tmp_path):
    translator = make_translator()
    with torch.no_grad():
        translator.model.output.bias.fill_(-torch.inf)
    with pytest.raises(ValueError, match="output.bias contains NaN or infinity; expected finite"):
        translator.save(tmp_path)


@pytest.mark.parametrize("sums", [[], "", 0, None])
def test_sums_that_are_none_are_damage(tmp_path, sums):
    make_translator().save(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "sha256": sums}))
    with pytest.raises(
        CheckpointError, match="config.json is damaged: 'sha256' is .*; expected a dict"
    ):
        Translator.load(tmp_path)


def test_a_longest_sentence_that_nobody_will_write_costs_nothing(tmp_path):
    make_translator().save(tmp_path)
    change_description(tmp_path, max_length=10**9)
    assert Translator.load(tmp_path).translate("the cat", beam_size=1, max_length=3)


@pytest.mark.parametrize("act", ["translate", "sample", "find_refusals"])
def test_nothing_becomes_nothing(act):
    assert len(getattr(make_translator(), act)([])) == 0


@pytest.mark.parametrize("alpha", [1e6, 1e300])
def test_a_penalty_that_is_no_number_is_refused(alpha):
    with pytest.raises(
        ValueError,
        match=r"alpha is .*; expected a smaller number, because the length penalty for \d+ words",
    ):
        make_translator().translate("the cat", alpha=alpha)
