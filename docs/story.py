"""The site's first page: a story on the course's own translator, told in six screens.

The page brings stored answers, so it can be painted at once. It asks for the model afterwards, and from
then on the engine computes what it shows.
"""

import html
import re
from pathlib import Path
from string import Template
from typing import Any

import first_page
import story_stills
from story_answers import FINDER, READERS, decider_of, place_words, stored_answers

from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab.guide import NOUN_FINDER, unseen_pronouns
from transformer_lab.lab.model_data import model_data
from transformer_lab.lab.page.join import script, style
from transformer_lab.lab.page.policy import policy_meta
from transformer_lab.lab.page.saved import dump_json
from transformer_lab.translator import Translator

HERE = Path(__file__).resolve().parent
MODEL = "_static/story-model.js"
"""The model's file: a script, because a page that was opened from a disk may fetch nothing else."""
ABOUT = (
    "Flip one word, cut one wire, and see how a translator knows what “it” means. "
    "A whole Transformer runs in the page."
)
POLICY = {"img-src": "'self' data:"}
"""What the page loads beside what stands in it; the policy says where scripts come from."""


def write_story(site: Path, *, repository: str, address: str) -> None:
    """Write the first page of the site, and the file of the model that it asks for."""
    translator = Translator.load(device="cpu")
    examples = [[example.source, example.target] for example in unseen_pronouns()]
    model = model_data(translator) | {"examples": examples}
    text = f"globalThis.storyModel = {dump_json(model)};\n"
    (site / MODEL).write_text(text, encoding="utf-8")
    fields = page_fields(translator, len(examples), len(text))
    fields |= {"repository": repository, "preview": address + first_page.PREVIEW}
    page = Template((HERE / "story.html").read_text(encoding="utf-8"))
    policy = policy_meta(page.substitute(fields, policy=""), POLICY, scripts=["'self'"])
    (site / "index.html").write_text(page.substitute(fields, policy=policy), encoding="utf-8")


def page_fields(translator: Translator, examples: int, model_size: int) -> dict[str, Any]:
    """What is filled into story.html: numbers, sentences, pictures and scripts."""
    answers = stored_answers(translator)
    first, second = map(decider_of, FAMOUS)
    claims, refuted = tested_claims()
    program = script("story/story.js")
    config = translator.model.config
    encoder_heads = config.num_encoder_layers * config.num_heads
    parameters = sum(parameter.numel() for parameter in translator.model.parameters())
    data = {
        "words": [first, second],
        "asks": {first: f"who was {first}", second: f"what was {second}"},
        "sentences": {decider_of(pair): pair.source for pair in FAMOUS},
        "finder": FINDER._asdict() | {"name": NOUN_FINDER},
        "readers": [head._asdict() for head in READERS],
        "places": place_words(),
        "encoderHeads": encoder_heads,
        "answers": answers,
        "examples": examples,
        "model": MODEL,
        "megabytes": round(model_size / 1e6, 1),
    }
    return {
        "about": ABOUT,
        "preview_shows": first_page.PREVIEW_SHOWS,
        "style": style("story/story.css"),
        "script": program,
        "script_size": round(len(program.encode()) / 1000),
        "data": dump_json(data),
        "source": items(answers[first]["source"], -1, "decider"),
        "target": items(answers[first]["written"], answers[first]["step"], "query"),
        "wide_source": html.escape(FAMOUS[1].source),
        "wide_target": html.escape(FAMOUS[1].target),
        "english_words": len(translator.source_tokenizer.words) - 4,  # without the special ones
        "parameters": f"{parameters:,}",
        "heads": encoder_heads + 2 * config.num_decoder_layers * config.num_heads,
        "examples": examples,
        "claims": claims,
        "refuted": refuted,
        "lesson_count": len(first_page.lessons()),
        "questions": questions(),
        "picture_3": story_stills.picture_of_wires(answers[first]),
        "picture_4": story_stills.picture_of_cut(answers[first], answers[f"{first} cut"]),
        "picture_6": story_stills.picture_of_claims(answers[first], place_words(), encoder_heads),
    }


def items(words: list[str], marked: int, kind: str) -> str:
    """The HTML of a sentence, a word an item; one with an apostrophe is joined to the next."""
    classes = [["joined"] * word.endswith("'") for word in words]
    classes[marked].append(kind)
    return "".join(
        f'<li class="{" ".join(names)}"><span class="word">{html.escape(word)}</span></li>'
        for names, word in zip(classes, words, strict=True)
    )


def tested_claims() -> tuple[int, int]:
    """How many claims the findings test, and how many don't hold; our own questions don't count."""
    text = (HERE / "findings.md").read_text(encoding="utf-8")
    count = re.search(r"^# (\d+) things", text, re.M)
    refuted = re.search(r"^\| does not hold \| (\d+) \| (\d+) \| \d+ \|$", text, re.M)
    assert count, "docs/findings.md doesn't say how many claims it has"
    assert refuted, "docs/findings.md doesn't say how many claims don't hold"
    return int(count[1]), int(refuted[1]) + int(refuted[2])


def questions() -> str:
    """The lessons as README asks them: a question each, and below it number, title and minutes."""
    return "".join(
        f'<li><a href="notebooks/{page}.html"><b>{first_page.in_html(question)}</b> '
        f"<span>{number} · {html.escape(title)}, {minutes} minutes</span></a></li>"
        for number, title, page, question, minutes in first_page.lessons()
    )
