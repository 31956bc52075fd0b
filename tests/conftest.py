"""What every test shares: one thread count, and models at sizes that are different primes."""

import gc
import random
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import jaxtyping
import pytest
import torch

from tests import shapes
from transformer_lab.config import TransformerConfig
from transformer_lab.data.corpora import CorpusUnavailable, debian
from transformer_lab.model import Transformer
from transformer_lab.runs.presets import PRESETS

# The models here are so small that a second thread only waits for the first.
torch.set_num_threads(1)

# What starts the tests in the background has them ignore signals that some of them send.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_make_parametrize_id(val, argname):
    """Name a case that is given as bytes by its argument instead: a packed file's bytes hold the time,
    and two workers must agree on the names of the tests."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_finish(session):
    """Leave what stays to the end, the collected tests above all, out of every garbage collection:
    with 7,000 tests each full one took a second."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    shapes.start(item)


# Prime sizes: a transposed or mixed-up dimension cannot pass unnoticed.
BATCH, SOURCE, TARGET = 2, 7, 5
SOURCE_WORDS, TARGET_WORDS = 23, 29


def small_config(**changes) -> TransformerConfig:
    """3 heads of 4; a feed-forward of 31; two encoder layers and three decoder layers."""
    sizes = {
        "source_vocab_size": SOURCE_WORDS,
        "target_vocab_size": TARGET_WORDS,
        "d_model": 12,
        "d_ff": 31,
        "num_heads": 3,
        "num_encoder_layers": 2,
        "num_decoder_layers": 3,
        "dropout": 0.0,
        "tie_source_target": False,
    }
    return TransformerConfig(**{**sizes, **changes})


def make_model(seed: int = 0, **changes) -> Transformer:
    """A model in float64 and evaluation mode whose every parameter is random, biases too."""
    torch.manual_seed(seed)
    model = Transformer(small_config(**changes)).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model


@pytest.fixture
def ids():
    """Source and target ids; the second sentence is shorter and padded."""
    generator = torch.Generator().manual_seed(1)
    source = torch.randint(4, SOURCE_WORDS, (BATCH, SOURCE), generator=generator)
    target = torch.randint(4, TARGET_WORDS, (BATCH, TARGET), generator=generator)
    source[1, 4:] = 0
    target[:, 0] = 1
    target[1, 3:] = 0
    return source, target


@pytest.fixture
def as_users_run_it():
    """Switch the tests' own checks of argument types off, to meet the package's errors."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def tsv(tmp_path) -> Path:
    """A corpus made by hand: numbers in two languages."""
    english = "zero one two three four five six seven eight nine".split()
    french = "zéro un deux trois quatre cinq six sept huit neuf".split()
    rng = random.Random(0)
    lines = set()
    while len(lines) < 400:
        digits = [rng.randrange(10) for _ in range(rng.randint(2, 6))]
        lines.add(" ".join(english[d] for d in digits) + "\t" + " ".join(french[d] for d in digits))
    path = tmp_path / "numbers.tsv"
    path.write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def endless(monkeypatch):
    """The preset small with a rate that does not know where it ends: its runs can be made longer."""
    training = replace(PRESETS["small"].training, decay="inverse_sqrt")
    monkeypatch.setitem(PRESETS, "small", replace(PRESETS["small"], training=training))


@pytest.fixture(scope="session")
def real_french(tmp_path_factory):
    """Debian's package descriptions in French, fetched by the real apt, and the cache they lie in."""
    if not shutil.which("apt-get"):
        pytest.skip("there is no apt-get here")
    cache = tmp_path_factory.mktemp("debian")
    try:
        return debian("fr", cache_folder=cache), cache
    except (CorpusUnavailable, ValueError) as reason:
        pytest.skip(f"this machine's mirrors give no French: {reason}")


@pytest.fixture
def shown(monkeypatch):
    """What was sent to the page: the data of each output."""
    sent = []
    for module in ("figures.display", "lab.sliders"):
        monkeypatch.setattr(
            f"transformer_lab.{module}.display",
            lambda data, raw: sent.append(data),
        )
    return sent


@pytest.fixture
def panel_of():
    """The part of a live output that is drawn anew; ipywidgets 7 keeps its widgets elsewhere than 8."""

    import ipywidgets

    def found(data):
        view = data["application/vnd.jupyter.widget-view+json"]["model_id"]
        kept = getattr(ipywidgets.widgets.widget, "_instances", None)
        return (ipywidgets.Widget.widgets if kept is None else kept)[view].children[-1]

    return found
