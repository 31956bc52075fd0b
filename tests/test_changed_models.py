"""Models whose layers were quantised or wrapped: they translate, learn, and are not saved as others."""

import copy
import warnings

import pytest
import torch
from torch import nn

from tests.test_translator import make_translator
from tests.training.test_trainer import examples, make_trainer
from transformer_lab.config import TrainingConfig
from transformer_lab.config.device import device_of
from transformer_lab.formats.to_transformers import build_transformers_model
from transformer_lab.lab.model_data import model_data
from transformer_lab.storage.tensors import weights_of
from transformer_lab.training.loss import label_smoothed_loss, projected_loss
from transformer_lab.training.trainer import Trainer
from transformer_lab.translator import Translator

TEXT, FRENCH = "the cat sees a small dog", "le chat voit un chien"


class LowRank(nn.Module):
    """An adapter (Hu et al. 2021) around a linear layer, which stays as it is."""

    def __init__(self, base: nn.Linear, rank: int = 3):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class LowRankLinear(nn.Linear):
    """The same as a kind of `nn.Linear`, which has a `weight` that is not all it computes."""

    def __init__(self, base: nn.Linear):
        super().__init__(base.in_features, base.out_features)
        self.load_state_dict(base.state_dict())
        self.adapter = nn.Linear(base.in_features, base.out_features, bias=False)

    def forward(self, x):
        return super().forward(x) + self.adapter(x)


def quantised(translator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch announces another package
        kinds = {nn.Linear}
        model = torch.ao.quantization.quantize_dynamic(translator.model, kinds, dtype=torch.qint8)
    return Translator(model, *translator.tokenizers)


def adapted(translator, kind=LowRank):
    model = copy.deepcopy(translator.model)
    model.output = kind(model.output)
    return Translator(model, *translator.tokenizers)


CHANGED = {"quantised": quantised, "adapted": adapted}


@pytest.fixture(params=CHANGED)
def changed(request):
    return CHANGED[request.param](make_translator())


@pytest.mark.filterwarnings("ignore")
def test_whatever_a_translator_does_a_changed_one_does(changed):
    model = changed.model
    assert changed.device == device_of(model) == torch.device("cpu")
    (greedy,) = changed.translate(TEXT, beam_size=1, max_length=11)
    (beam,) = changed.translate(TEXT, beam_size=3, max_length=11)
    assert len(changed.n_best(TEXT, 3, max_length=11)) == 3
    assert changed.sample(TEXT, max_length=11)[0].source == TEXT
    assert changed.score(TEXT, FRENCH) < 0
    assert len(changed.attend(TEXT).cross) == model.config.num_decoder_layers
    assert greedy.score < 0
    assert beam.score < 0


def test_a_quantised_model_says_almost_what_it_said():
    plain = make_translator()
    assert quantised(plain).score(TEXT, FRENCH) == pytest.approx(plain.score(TEXT, FRENCH), rel=0.1)


@pytest.mark.filterwarnings("ignore")
def test_what_could_not_be_read_again_is_not_saved(changed, tmp_path):
    message = (
        "the model (lacks|has) the weight .*, which its configuration (describes|does not "
        "describe). Was the model"
    )
    with pytest.raises(ValueError, match=message):
        changed.save(tmp_path / "new")
    assert not (tmp_path / "new" / "config.json").exists()
    with pytest.raises(ValueError, match=message):
        model_data(changed)
    pytest.importorskip("transformers", exc_type=ImportError)
    with pytest.raises(ValueError, match=message):
        build_transformers_model(changed.model)


def test_an_untied_matrix_is_named_too(tmp_path):
    translator = make_translator()
    output = translator.model.output
    output.weight = nn.Parameter(-output.weight)
    with pytest.raises(
        ValueError, match="the model has the weight output.weight, which its configuration does not"
    ):
        translator.save(tmp_path)


def hooked(base: nn.Linear) -> nn.Linear:
    base.register_forward_hook(lambda layer, inputs, logits: 2 * logits)
    return base


@pytest.mark.parametrize("kind", [LowRank, LowRankLinear, hooked])
def test_the_loss_is_that_of_what_the_layer_computes(kind):
    torch.manual_seed(0)
    output = kind(nn.Linear(13, 37))
    features = torch.randn(3, 7, 13, requires_grad=True)
    target = torch.randint(0, 37, (3, 7))
    wanted = label_smoothed_loss(output(features), target)
    found = projected_loss(features, output, target)
    torch.testing.assert_close(found, wanted)
    learning = [features, *(p for p in output.parameters() if p.requires_grad)]
    both = [torch.autograd.grad(loss, learning, retain_graph=True) for loss in (found, wanted)]
    torch.testing.assert_close(*both)


@pytest.mark.slow
def test_an_adapter_alone_learns_and_goes_on_where_it_was_saved(tmp_path):
    def trainer(steps):
        model = make_trainer().model.requires_grad_(False)
        model.output = LowRank(model.output)
        config = TrainingConfig(max_steps=steps, warmup_steps=5, device="cpu", precision="fp32")
        drawn, path = examples(400, seed=1), tmp_path / "state"
        return Trainer(model, drawn, drawn[:31], config, state_path=path, show_progress=False)

    whole = trainer(7)
    before = {name: tensor.clone() for name, tensor in weights_of(whole.model).items()}
    whole.train()
    moved = {n for n, tensor in weights_of(whole.model).items() if not tensor.equal(before[n])}
    assert moved == {"output.down.weight", "output.up.weight"}
    trainer(4).train()
    resumed = trainer(7)
    resumed.resume()
    resumed.train()
    for name, tensor in weights_of(whole.model).items():
        assert torch.equal(tensor, weights_of(resumed.model)[name]), name
