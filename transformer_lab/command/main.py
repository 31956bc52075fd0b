"""The command line: train, translate, evaluate, lab, playground, export, and other commands.

Run each as `python -m transformer_lab COMMAND`.
"""

import argparse
import json
import math
import os
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from transformer_lab.command.doctor import diagnose
from transformer_lab.command.scored import check_unchanged, find_own_corpus, open_scored_pairs
from transformer_lab.command.streams import prepare_streams, read_lines, replace_nan
from transformer_lab.config import check
from transformer_lab.course import diary
from transformer_lab.data.cache import clear_cache, list_cache
from transformer_lab.data.corpora import CorpusUnavailable, user_cache_folder
from transformer_lab.data.corpus import Corpus, find_corpus
from transformer_lab.data.corpus_name import CSV, HUB_KINDS, parse_columns
from transformer_lab.data.pair import SentencePair, Splits
from transformer_lab.data.text import escape_for_terminal, join_for_terminal
from transformer_lab.evaluation.bleu import looks_tokenized
from transformer_lab.model.size import count_parameters
from transformer_lab.runs.card import CARD, describe_corpus, export_card, may_write_card, model_card
from transformer_lab.runs.evaluation import Evaluation, evaluate, validation_loss
from transformer_lab.runs.presets import PRESETS
from transformer_lab.runs.run import About, begin_run, resume_run
from transformer_lab.storage.files import write_atomically
from transformer_lab.training import distributed
from transformer_lab.training.trainer import LossIsNaNError
from transformer_lab.translator import PRETRAINED, Translation, Translator


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0 on success, 1 on failure.

    An error is printed as one line on standard error. `arguments` are the command-line arguments;
    by default, `sys.argv[1:]`.
    """
    prepare_streams()
    options = build_parser().parse_args(arguments)
    try:
        with distributed.process_group(getattr(options, "device", None) or "auto"):
            result = options.run(options)
            if options.json:
                text = json.dumps(replace_nan(result), ensure_ascii=False, allow_nan=False)
                print(text.encode(errors="replace").decode())  # a lone surrogate is not JSON
        sys.stdout.flush()  # here, so that a closed pipe is noticed below and not at exit
    except (ValueError, CorpusUnavailable, LossIsNaNError) as error:
        return print_error(str(error))
    except BrokenPipeError:  # the reader has seen enough, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        what = error.filename or "the output could not be written"
        return print_error(f"{what}: {error.strerror or error}")
    except KeyboardInterrupt:
        return print_error("interrupted")
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        return print_error(f"there is not enough memory: {error}")
    return 0


def print_error(message: str) -> int:
    """Print an error as one line on standard error, and return the exit code 1."""
    print("error: " + escape_for_terminal(" ".join(message.split())), file=sys.stderr)
    return 1


STOPS = {
    "max_steps": "finished",
    "max_minutes": "stopped at the time limit",
    "patience": "stopped early for lack of improvement",
    "interrupted": "interrupted",
}
"""The text that `train` prints for each reason to stop (see `training.trainer.Stop`)."""
MODEL = "the translator to use, a folder or file (default: the one that comes with the package)"
DEVICES = "the device to compute on: auto (default), cpu, cuda or mps"


def build_parser() -> argparse.ArgumentParser:
    """Build the argument parser for all commands and their options."""
    top = argparse.ArgumentParser(
        prog="python -m transformer_lab",
        description="Train a small translator, translate with it, and inspect its attention heads "
        "on a web page.",
        epilog="For help on a command, add --help to it. To get started, try: "
        'python -m transformer_lab translate "the cat sleeps"',
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Any, help: str) -> argparse.ArgumentParser:  # noqa: A002
        sub = commands.add_parser(name, help=help, description=help)
        sub.add_argument(
            "--json", action="store_true", help="print the results as JSON on the last line"
        )
        sub.set_defaults(run=run)
        return sub

    train = command("train", run_train, "Train a translator on pairs of sentences, and save it.")
    add_corpus_options(train, default="world")
    train.add_argument(
        "--preset",
        choices=PRESETS,
        default=None,
        help="the model size and training settings (default: those that suit the corpus)",
    )
    train.add_argument(
        "--vocab-size",
        type=int,
        default=None,
        help="the number of subwords to learn; with 260, each byte is a separate token "
        "(default: a number that suits the preset)",
    )
    train.add_argument("--max-steps", type=int, default=None, help="stop after this many steps")
    train.add_argument(
        "--max-minutes", type=float, default=None, help="stop after this many minutes"
    )
    train.add_argument(
        "--seed",
        type=int,
        default=None,
        help="the seed for all random choices in the run (default 0)",
    )
    add_skip_bad(train)
    train.add_argument("--device", default=None, help=DEVICES)
    train.add_argument(
        "--precision",
        choices=("auto", "fp32", "bf16"),
        default=None,
        help="the precision of matrix products; auto means bf16 if the hardware supports it "
        "(default: set by the preset)",
    )
    train.add_argument(
        "--out", type=Path, default=None, help="the folder for the run (default runs/CORPUS-PRESET)"
    )
    train.add_argument("--resume", action="store_true", help="continue the run in --out")

    translate = command("translate", run_translate, "Translate sentences.")
    translate.add_argument(
        "text",
        nargs="*",
        help="the sentences to translate; if none are given, standard input is read line by line",
    )
    add_model_options(translate)

    score = command("evaluate", run_evaluate, "Score a translator on sentences it has never seen.")
    add_corpus_options(score, default="the corpus that the model was trained on")
    score.add_argument("--limit", type=int, default=None, help="use only the first LIMIT sentences")
    add_skip_bad(score)
    add_model_options(score)

    lab = command("lab", run_lab, "Write a web page that runs a translator in the browser.")
    lab.add_argument(
        "text",
        nargs="*",
        help="the sentences to offer on the page, each as a button (default: a sentence from the "
        "model's corpus or, for the model that comes with the package, two famous sentences and a "
        "guide)",
    )
    add_page_options(lab, default="lab.html")
    lab.add_argument("--model", type=Path, default=PRETRAINED, help=MODEL)
    lab.add_argument(
        "--record",
        action="store_true",
        help="store in the page only what every head does with one sentence, not the model; this "
        "works for a model of any size",
    )
    lab.add_argument("--device", help=f"{DEVICES}; only with --record")
    lab.add_argument(
        "--start", default="", help='the view in which the page opens, such as "head=e2.3&row=10"'
    )
    lab.add_argument("--title", default="", help="a heading for the page")
    lab.add_argument(
        "--no-examples",
        action="store_true",
        help="leave out the pairs from the model's test set, which show what a muted head does",
    )
    lab.add_argument(
        "--languages",
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="the names to show for the two languages",
    )

    play = command(
        "playground",
        run_playground,
        "Write a web page on which a small Transformer learns while you watch.",
    )
    play.add_argument(
        "--task",
        default="reverse",
        help="the task to learn, such as sort or numbers_en (default %(default)s)",
    )
    play.add_argument(
        "--start", default="", help='settings to start with, such as "heads=1&but=mask:false"'
    )
    add_page_options(play, default="play.html")

    export = command("export", run_export, "Export a translator to Transformers or CTranslate2.")
    export.add_argument(
        "--to",
        choices=("transformers", "ctranslate2"),
        required=True,
        help="the library that will run the exported model",
    )
    export.add_argument("--out", type=Path, required=True, help="the folder to create")
    export.add_argument(
        "--quantization",
        default=None,
        help="the number format of the weights for ctranslate2, such as int8 (default float32)",
    )
    export.add_argument("--model", type=Path, default=PRETRAINED, help=MODEL)

    kept = command("corpora", run_corpora, "List the corpora in the cache, or delete them.")
    kept.add_argument(
        "--clear",
        nargs="*",
        metavar="NAME",
        help="delete the corpora that have these names or lie in these folders, or "
        "all corpora if no name is given; a run that needs a deleted corpus prepares it again",
    )

    done = command(
        "progress", run_progress, "Show what you have done in the course, and what to review."
    )
    done.add_argument(
        "--forget", action="store_true", help="delete the file that stores this progress"
    )

    command("doctor", run_doctor, "Show what is installed, what is missing, and how to get it.")
    return top


def add_page_options(sub: argparse.ArgumentParser, default: str) -> None:
    """Add the options that say where a page is written: `--out` and `--overwrite`."""
    sub.add_argument(
        "--out",
        type=Path,
        default=Path(default),
        help="the file for the page (default %(default)s)",
    )
    sub.add_argument(
        "--overwrite", action="store_true", help="replace the page if it already exists"
    )


def add_skip_bad(parser: argparse.ArgumentParser) -> None:
    """Add the option `--skip-bad`."""
    said = "skip the lines that do not contain a pair of texts"
    parser.add_argument("--skip-bad", action="store_true", help=said)


def add_corpus_options(sub: argparse.ArgumentParser, default: str) -> None:
    """Add the options for commands that read a corpus; `corpus_from_options` reads them."""
    sub.add_argument(
        "--corpus",
        default=None,
        help="the corpus: world (built in); debian:LANGUAGE; a file of pairs (TSV or .jsonl, "
        "optionally compressed as .gz, .zst or .zip); FILE, for the two files FILE.en and FILE.fr; "
        "a folder with such files or a saved dataset; or hf:NAME[/CONFIG] or stream:NAME[/CONFIG], "
        f"for a dataset on the Hugging Face hub (default: {default})",
    )
    sub.add_argument(
        "--source",
        default=None,
        help="the name or number of the source column; for two files, the extension of the "
        "source file",
    )
    sub.add_argument(
        "--target", default=None, help="the target's column or extension, given like --source"
    )
    sub.add_argument(
        "--csv",
        action="store_true",
        help="read the table as CSV, with commas between columns and quotes around texts if needed",
    )


def corpus_from_options(options: argparse.Namespace) -> str | None:
    """Return the name of the chosen corpus, with its columns, or None if no corpus was chosen.

    Raises:
        ValueError: If the options contradict each other.
    """
    corpus: str | None = options.corpus
    if options.source is not None or options.target is not None:
        corpus = add_columns(corpus, options.source, options.target)
    return mark_csv(corpus) if options.csv else corpus


def add_model_options(sub: argparse.ArgumentParser) -> None:
    """Add the options for commands that use a trained model."""
    sub.add_argument("--model", type=Path, default=PRETRAINED, help=MODEL)
    sub.add_argument("--device", default="auto", help=DEVICES)
    sub.add_argument(
        "--beam",
        type=int,
        default=4,
        help="the beam size (default 4; with 1, decoding is greedy)",
    )


def run_train(options: argparse.Namespace) -> dict[str, Any]:
    """Run `train`: train or resume, save, score on the test split, and return the results."""
    limits = {name: getattr(options, name) for name in ("max_steps", "max_minutes")}
    limits |= {"device": options.device, "precision": options.precision}
    asked = corpus_from_options(options)
    with distributed.rank_zero_first():  # one error if there is no such corpus
        known = find_corpus("world" if asked is None else asked)
        folder = options.out or default_folder(known, options.preset)
    if options.resume:
        if options.skip_bad:
            raise ValueError(
                "--skip-bad cannot be used with --resume, because a run keeps the pairs it started with"
            )
        if options.vocab_size is not None:
            raise ValueError(
                "--vocab-size cannot be used with --resume, because a run keeps the subwords "
                "it learnt"
            )
        again = None if asked is None else known.name
        begun = {"corpus": again, "preset": options.preset, "seed": options.seed}
        run = resume_run(folder, **begun, **limits)
    else:
        run = begin_run(
            folder,
            known.name,
            preset=options.preset,
            seed=options.seed or 0,
            skip_bad=options.skip_bad,
            vocab_size=options.vocab_size,
            **limits,
        )
    translator, splits, trainer = run.translator, run.splits, run.trainer
    print(describe_corpus(run.about.corpus, splits))
    print(
        f"pairs: {len(splits.train):,} for training, {len(splits.validation):,} for validation, "
        f"{len(splits.test):,} for testing"
    )
    print(
        f"model: {count_parameters(translator.model)['total']:,} parameters; vocabularies of "
        f"{translator.source_tokenizer.vocab_size:,} and "
        f"{translator.target_tokenizer.vocab_size:,} tokens"
    )
    before = trainer.progress.step
    stop = run.train()
    if distributed.rank() > 0:
        return {}  # the first process saves and scores
    progress = trainer.progress
    seconds = round(progress.seconds, 1)
    steps = [h for h in progress.history if "validation_loss" in h]  # with few pairs there are none
    losses = ", ".join(f"{h['validation_loss']:z.3f} (step {h['step']})" for h in steps)
    if losses:  # the run may end before the first is measured
        print(f"validation loss {losses}")
    if stop == "max_steps" and progress.step == before:
        print(
            f"This run had already finished, after {progress.step:,} steps, "
            "so there was nothing left to train"
        )
    else:
        print(f"{STOPS[stop]} after {progress.step:,} steps and {seconds} s, and saved in {folder}")
    result = {"steps": progress.step, "seconds": seconds, "stop": stop, "out": str(folder)}
    more = {"interrupted": "", "max_minutes": " --max-minutes …"}
    if stop in more:
        print(f"To continue: python -m transformer_lab train --resume --out {folder}{more[stop]}")
    if stop == "interrupted":
        return result
    loss, evaluation = print_scores(translator, splits, beam_size=4)
    if may_write_card(folder):
        card = model_card(translator, splits, evaluation)
        write_atomically(folder / CARD, card.encode())
    result |= {"validation_loss": loss, **asdict(evaluation)}
    print(f'To translate with it: python -m transformer_lab translate --model {folder} "…"')
    return result


def add_columns(corpus: str | None, source: str | None, target: str | None) -> str:
    """Return the corpus name with "@SOURCE,TARGET" added.

    Raises:
        ValueError: If only one column is given; if the columns are equal or empty, or contain a
            comma, / or @; or if there is no corpus, or its columns are fixed (world and Debian).
    """
    if not (source and target) or source == target:
        raise ValueError("--source and --target must be given together, with two different columns")
    if corpus is None:
        raise ValueError("--source and --target need --corpus too, because they choose its columns")
    for option, column in (("--source", source), ("--target", target)):
        expected = "a name without a comma, / or @, or the number of the column"
        check(option, column, expected, not any(sign in column for sign in ",/@"))
    if corpus == "world" or corpus.startswith("debian:"):
        fixed = f"because the columns of {corpus} are fixed"
        raise ValueError(f"--source and --target cannot be used with --corpus {corpus}, {fixed}")
    return f"{corpus}@{source},{target}"


def mark_csv(corpus: str | None) -> str:
    """Return the corpus name, with the prefix "csv:" added if it is missing.

    Raises:
        ValueError: If the corpus is the world (the default), Debian or a dataset on the hub, rather
            than a file or folder. Whether the file exists is not checked.
    """
    kind = (corpus or "world").partition(":")[0]
    if kind in ("world", "debian", *HUB_KINDS):
        raise ValueError(f"--csv reads a file or folder, but --corpus is {corpus or 'world'!r}")
    return corpus if corpus and kind == CSV else f"{CSV}:{corpus}"


def default_folder(known: Corpus, preset: str | None) -> Path:
    """Return the default folder of a run started without --out: runs/CORPUS-PRESET."""
    named = re.sub(r"\W+", "-", known.name)
    path = Path(parse_columns(known.name)[0].removeprefix(f"{CSV}:"))
    stem = path.name.split(".")[0] if path.is_absolute() else named  # for a file, only its name
    return Path("runs") / f"{stem}-{preset or known.preset}"


def print_scores(
    translator: Translator, splits: Splits[Any], beam_size: int, own_file: bool = False
) -> tuple[float, Evaluation]:
    """Score a translator, print the results, and return the validation loss and the test scores.

    With `own_file`, both splits hold all pairs of one file, so the output does not name a split.
    """
    loss = validation_loss(translator, splits.validation)
    evaluation = evaluate(translator, splits.test, beam_size=beam_size)
    known = "unknown" if math.isnan(loss) else f"{loss:z.3f}"
    print(
        f"{'loss' if own_file else 'validation loss'} {known}. Of {evaluation.sentences:,} "
        f"{'' if own_file else 'test '}sentences, "
        f"{100 * evaluation.exact_match:.1f}% match the reference exactly. BLEU "
        f"is {evaluation.bleu:.1f} ({evaluation.bleu_signature}), and chrF is {evaluation.chrf:.1f}."
    )
    if looks_tokenized([pair.target for pair in splits.test]):
        print(
            "Most of the references end in a space and a full stop, as tokenized text does, so "
            "this BLEU score cannot be compared with others."
        )
    if evaluation.pronouns is not None:
        print(f"{100 * evaluation.pronouns:.1f}% of the pronouns agree with the right noun.")
    if evaluation.by_construction:
        print("Share of exact matches, by kind of sentence:")
    for name, share in evaluation.by_construction.items():
        print(f"  {100 * share:5.1f}%  {name}")
    return loss, evaluation


def run_translate(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run `translate`: translate the arguments, or standard input line by line.

    An empty line is printed for each sentence that the translator refuses. A message at the end
    gives the number of refused sentences and the reason for the first refusal.

    Raises:
        ValueError: If every sentence is refused, or standard input is empty.
    """
    translator = Translator.load(options.model, device=options.device)
    for text in options.text:
        if os.path.isfile(text):
            said = (
                f"{text} is the name of a file. To translate its lines: "
                f"python -m transformer_lab translate < {text}"
            )
            print(escape_for_terminal(said), file=sys.stderr)
    results: list[dict[str, Any]] = []
    asked, refused, first = 0, 0, ""
    for texts in [options.text] if options.text else read_lines():
        reasons = translator.find_refusals(texts)
        readable = [text for i, text in enumerate(texts) if i not in reasons]
        found = iter(translator.translate(readable, beam_size=options.beam))
        for i, text in enumerate(texts):
            if i in reasons:
                one = {**asdict(Translation(text, "", math.nan, False, ())), "score": None}
                one["reason"] = reasons[i]
                if text.strip():  # an empty input line is not a refusal
                    refused += 1
                    first = first or f"{asked + i + 1} was left empty: {reasons[i]}"
            else:
                one = asdict(next(found))
                warn_unknown(one["unknown"])
            if options.json:
                results.append(one)
            else:
                print(one["translation"])
        asked += len(texts)
        sys.stdout.flush()
    if not asked:
        raise ValueError("standard input is empty; expected one sentence per line")
    if refused:
        several = f"{refused} of {asked} lines could not be translated. " if refused > 1 else ""
        said = f"{several}Line {first}"
        if refused == asked:
            raise ValueError(said)
        print(said, file=sys.stderr)
    return results


def warn_unknown(words: Sequence[str]) -> None:
    """Print a warning on standard error that names the words the model does not know, if any."""
    if words:
        said = f"The model does not know {join_for_terminal(words)}, and reads <unk> instead."
        print(said, file=sys.stderr)


def run_evaluate(options: argparse.Namespace) -> dict[str, Any]:
    """Run `evaluate`: score a translator on the test split of its corpus, or on another file."""
    started = time.perf_counter()
    translator = Translator.load(options.model, device=options.device)
    about, asked = About.of(translator), corpus_from_options(options)
    if options.limit is not None and options.limit < 1:
        raise ValueError(f"--limit is {options.limit}; expected an integer of at least 1")
    corpus = find_own_corpus(about, options.model) if asked is None else find_corpus(asked)
    is_own = asked is None or corpus.name == about.corpus
    skip_bad = about.skip_bad or options.skip_bad
    scored = open_scored_pairs(corpus, about, skip_bad, is_own, options.limit)
    loss, evaluation = print_scores(translator, scored.splits, options.beam, scored.whole_file)
    seconds = round(time.perf_counter() - started, 1)
    name = "loss" if scored.whole_file else "validation_loss"
    return {
        "steps": about.steps,
        "seconds": seconds,
        name: loss,
        **asdict(evaluation),
        "seen_in_training": scored.seen,
    }


def run_lab(options: argparse.Namespace) -> dict[str, Any]:
    """Run `lab`: write a page for a model or a record, and return the page's path and size."""
    # Imported here because the drawing code loads slowly.
    from transformer_lab.lab.guide import EXAMPLES, famous_guide
    from transformer_lab.lab.open_lab import lab

    refuse_existing(options)
    given: dict[str, Any] = {}
    if options.start:
        given["start"] = options.start
    if options.languages:
        given["languages"] = tuple(options.languages)
    result: dict[str, Any] = {}
    if options.record:
        if len(options.text) != 1:
            raise ValueError(f"--record needs exactly one sentence, but got {len(options.text)}")
        translator = Translator.load(options.model, device=options.device or "auto")
        (translation,) = translator.translate(options.text[0], beam_size=1)  # as `attend` does
        warn_unknown(translation.unknown)
        result = asdict(translation)
        page = lab(translator.attend(options.text[0]), **given)
    else:
        if options.device is not None:
            raise ValueError(
                "--device can only be used with --record; otherwise, the browser runs the model"
            )
        translator = Translator.load(options.model, device="cpu")
        if options.text:
            given["sentences"] = options.text
        elif options.model == PRETRAINED:
            given = famous_guide() | given
        elif example := About.of(translator).example:
            given["sentences"] = [example]
        else:
            raise ValueError("this model has no example sentence; add a sentence to translate")
        if options.model != PRETRAINED and not options.no_examples:
            given["examples"] = find_test_pairs(translator, EXAMPLES)
        page = lab(translator, **given)
    path = page.to_html(options.out, title=options.title, overwrite=options.overwrite)
    size = path.stat().st_size
    if not options.json:
        if options.record:
            print(result["translation"])
        print(f"{path} ({size / 1e6:.1f} MB) is ready: open it in any browser, even offline")
        if options.model != PRETRAINED and (count := len(given.get("examples", ()))):
            held = f"The page contains {count} test pairs from the model's corpus"
            print(f"{held}, which show what a muted head does. --no-examples leaves them out.")
    return result | {"out": str(path), "bytes": size}


def find_test_pairs(translator: Translator, most: int) -> list[tuple[str, str]]:
    """Return up to `most` test pairs from the run that trained a translator.

    The translator's page uses them to show what muting a head does. Pairs that the translator
    cannot read are left out, and so are pairs with unknown words.

    The list is empty if the translator does not come from a run. It is also empty if the run's
    corpus cannot be read or has changed, because then any pair may have been in the training data.
    In that case, a message is printed on standard error.
    """
    about = About.of(translator)
    if about.corpus is None:
        return []
    try:
        splits = find_corpus(about.corpus).splits(about.seed, about.skip_bad)
        check_unchanged(about, splits)
    except (OSError, ValueError, CorpusUnavailable) as error:
        print(f"The page has no test sentences from {about.corpus}: {error}", file=sys.stderr)
        return []
    known = (pair for pair in splits.test if knows(translator, pair))
    return [(pair.source, pair.target) for pair in islice(known, most)]


def knows(translator: Translator, pair: SentencePair) -> bool:
    """Return whether a translator can read a pair, and knows all words on both sides."""
    read, target = translator.read_source(pair.source), translator.target_tokenizer
    fits = len(target.encode(pair.target)) < translator.model.config.max_length
    return not (read.refusal or read.unknown or target.unknown(pair.target)) and fits


def run_playground(options: argparse.Namespace) -> dict[str, Any]:
    """Run `playground`: write a page that trains a Transformer, and return its path and size."""
    from transformer_lab.lab.playground_page import playground

    refuse_existing(options)
    page = playground(options.task, start=options.start)
    path = page.to_html(options.out, overwrite=options.overwrite)
    size = path.stat().st_size
    if not options.json:
        print(f"{path} ({size / 1e3:.0f} kB) is ready: open it in any browser, even offline")
    return {"out": str(path), "bytes": size}


def refuse_existing(options: argparse.Namespace) -> None:
    """Raise a ValueError if the page already exists and `--overwrite` is not set."""
    if options.out.exists() and not options.overwrite:
        raise ValueError(
            f"{options.out} already exists. Add --overwrite to replace it, or choose another --out"
        )


def run_export(options: argparse.Namespace) -> dict[str, Any]:
    """Run `export`: write a translator as a model for Transformers or CTranslate2."""
    # Imported here because they need optional packages.
    from transformer_lab.formats.to_ctranslate2 import ctranslate2_example, to_ctranslate2
    from transformer_lab.formats.to_transformers import to_transformers, transformers_example

    if options.out.exists():
        raise ValueError(f"{options.out} already exists. Choose another --out")
    translator = Translator.load(options.model, device="cpu")
    example = ctranslate2_example if options.to == "ctranslate2" else transformers_example
    card = export_card(options.model, example(translator, "FOLDER"))
    if options.to == "ctranslate2":
        to_ctranslate2(translator, options.out, options.quantization, card)
    else:
        if options.quantization is not None:
            raise ValueError("--quantization can only be used with --to ctranslate2")
        to_transformers(translator, options.out, card)
    if not options.json:
        print(f"{options.out} is ready. To use it:\n\n{example(translator, options.out)}")
    return {"out": str(options.out), "to": options.to}


def run_corpora(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run `corpora`: list the corpora in the cache, or delete some and list what was deleted."""
    asked_to_clear = options.clear is not None
    found = clear_cache(options.clear) if asked_to_clear else list_cache()
    for one in found:
        seed = "any" if one.seed is None else one.seed
        pairs = "" if one.pairs is None else f"{one.pairs:,}"
        called = escape_for_terminal(one.corpus) or "(unfinished, damaged or from another version)"
        print(f"{one.size / 1e6:10,.1f} MB  seed {seed:<4}{pairs:>12}  {one.path.name}  {called}")
    total = f"{sum(one.size for one in found) / 1e6:,.1f} MB in {user_cache_folder()}"
    if asked_to_clear:
        print(f"Deleted: {total}.")
    else:
        print(f"{total}. To delete all of it: python -m transformer_lab corpora --clear")
    return [{**asdict(one), "path": str(one.path)} for one in found]


def run_progress(options: argparse.Namespace) -> dict[str, Any]:
    """Run `progress`: print what a learner has done and should review, or delete this record."""
    path = diary.find_diary()
    if options.forget:
        gone = path is not None and diary.delete_diary(path)
        print(f"{path} was deleted." if gone else "There was nothing to delete.")
        return {"file": path and str(path), "deleted": gone}
    print(diary.format_progress())
    record = diary.load_record()
    if record:
        print(f"\nAll of this is stored in {path} and never sent anywhere. To delete it: ", end="")
        print("python -m transformer_lab progress --forget")
    asked = diary.due_questions(record, diary.today())
    return {
        "file": str(path) if record else None,
        "lessons": diary.record_to_json(record)["lessons"],
        "due": [{"lesson": lesson, "question": text} for lesson, text in asked],
    }


def run_doctor(options: argparse.Namespace) -> dict[str, Any]:
    """Run `doctor`: print what is installed, what is missing, and how to get it."""
    lines = diagnose()
    for name, (finding, remedy) in lines.items():
        print(f"{name:14} {finding}" + (f"   → {remedy}" if remedy else ""))
    return {name: finding for name, (finding, _) in lines.items()}
