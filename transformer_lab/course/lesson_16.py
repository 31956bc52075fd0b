"""Lesson 16, the family tree: the checks of its exercises, and its quiz."""

from types import SimpleNamespace

import numpy as np

from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lesson_01 import draw
from transformer_lab.course.quiz import Question, Quiz

# ---------------------------------------------------------------- what a GPT learns from


def _window_cases() -> list[tuple]:
    rng = np.random.default_rng(0)
    return [
        (np.arange(10, 20), np.array([0, 3]), 3),
        (rng.integers(4, 99, 31), np.array([2, 17, 11]), 7),
        (rng.integers(4, 99, 67), np.array([0, 40, 3, 3, 29]), 11),
    ]


def _rows(ids: np.ndarray, starts: np.ndarray, length: int, shift: int = 0) -> np.ndarray:
    return ids[starts[:, None] + np.arange(length) + shift]


windows = Check(
    reference=lambda ids, starts, length: (
        _rows(ids, starts, length),
        _rows(ids, starts, length, 1),
    ),
    cases=_window_cases,
    results=("the inputs", "the targets"),
    verified="each target is the token after its input",
    mistakes=[
        Mistake(
            lambda ids, starts, length: (_rows(ids, starts, length), _rows(ids, starts, length)),
            "the targets are the inputs: the model would learn to copy what it sees.",
        ),
        Mistake(
            lambda ids, starts, length: (
                _rows(ids, starts, length),
                _rows(ids, starts, length, -1),
            ),
            "the targets are the tokens *before* the inputs.",
        ),
        Mistake(
            lambda ids, starts, length: (_rows(ids, starts, length, 1), _rows(ids, starts, length)),
            "inputs and targets have changed places: the model would predict the past.",
        ),
        Mistake(
            lambda ids, starts, length: (
                _rows(ids, starts, length - 1),
                _rows(ids, starts, length - 1, 1),
            ),
            "the windows are one token too short: each has `length` inputs and `length` targets.",
        ),
        Mistake(
            lambda ids, starts, length: (
                _rows(ids, starts, length),
                _rows(ids, starts, length, length),
            ),
            "the targets are the window after this one; each is the *next token*, one step on.",
        ),
        Mistake(
            lambda ids, starts, length: (_rows(ids, starts, length), ids[starts + length]),
            "one target for each window; every position has its own, so that one pass teaches all.",
        ),
        Mistake(
            lambda ids, starts, length: (
                _rows(ids, np.arange(len(starts)) * length, length),
                _rows(ids, np.arange(len(starts)) * length, length, 1),
            ),
            "the windows lie one behind the other; they begin at `starts`.",
        ),
    ],
)

# ---------------------------------------------------------------- what a BERT learns from


def _hide_cases() -> list[tuple]:
    cases = [
        (
            np.array([[5, 6, 7], [8, 9, 0]]),
            np.array([[False, True, False], [True, False, False]]),
            99,
        )
    ]
    for seed, shape in ((1, (3, 7)), (2, (5, 11))):
        rng = np.random.default_rng(seed)
        ids = rng.integers(4, 90, shape)
        ids[1, 4:] = 0
        cases.append((ids, (rng.random(shape) < 0.4) & (ids != 0), 97))
    return cases


def _hide_in_place(ids: np.ndarray, chosen: np.ndarray, mask_id: int) -> tuple:
    ids[chosen] = mask_id
    return ids, np.where(chosen, ids, 0)


hide = Check(
    reference=lambda ids, chosen, mask_id: (
        np.where(chosen, mask_id, ids),
        np.where(chosen, ids, 0),
    ),
    cases=_hide_cases,
    arguments=("ids", "chosen", "mask_id"),
    results=("the inputs", "the targets"),
    verified="hidden where chosen, and asked for there and nowhere else",
    mistakes=[
        Mistake(
            lambda ids, chosen, mask_id: (np.where(chosen, mask_id, ids), ids),
            "every word is asked for, those in plain sight too: most of the loss teaches copying.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (np.where(chosen, ids, mask_id), np.where(chosen, ids, 0)),
            "all words are hidden *but* the chosen ones.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (np.where(chosen, mask_id, ids), np.where(chosen, 0, ids)),
            "the targets are the words in sight; those that are hidden are to be found.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (np.where(chosen, 0, ids), np.where(chosen, ids, 0)),
            "the words are replaced by padding, which the padding mask takes out of sight: the "
            "model must see that *something* stands there.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (ids, np.where(chosen, ids, 0)),
            "nothing is hidden: the answers stand in the inputs.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (
                np.where(chosen, mask_id, ids),
                np.where(chosen, mask_id, 0),
            ),
            "the targets are the mask itself; take them from the ids as they were.",
        ),
        Mistake(
            _hide_in_place,
            "the ids are changed in place, before the targets were taken from them.",
        ),
    ],
)

# ---------------------------------------------------------------- shared keys


def _share_cases() -> list[tuple]:
    shapes = (((2, 3, 2), 4), ((3, 7, 5), 6), ((1, 5, 3), 7), ((5, 2, 11), 15))
    return [(draw(*shape, seed=n), heads) for n, (shape, heads) in enumerate(shapes)]


shared_keys = Check(
    reference=lambda key, num_heads: np.repeat(key, num_heads // len(key), axis=0),
    cases=_share_cases,
    arguments=("key", "num_heads"),
    results=("the keys",),
    verified="neighbouring query heads read the same keys",
    mistakes=[
        Mistake(
            lambda key, num_heads: np.tile(key, (num_heads // len(key), 1, 1)),
            "the keys come in turn: 0, 1, 0, 1. Neighbours form a group: 0, 0, 1, 1.",
        ),
        Mistake(
            lambda key, num_heads: np.repeat(key, num_heads // len(key), axis=1),
            "each *word* is there several times; the heads are axis 0.",
        ),
        Mistake(
            lambda key, num_heads: np.repeat(key[:1], num_heads, axis=0),
            "all heads read the first head's keys: that is multi-query attention.",
        ),
        Mistake(
            lambda key, num_heads: np.repeat(key.mean(axis=0, keepdims=True), num_heads, axis=0),
            "the key heads are averaged; each stays what it is, and serves its own group.",
        ),
        Mistake(
            lambda key, num_heads: np.concatenate(
                [key, np.zeros((num_heads - len(key), *key.shape[1:]))]
            ),
            "the last heads get zeros: their queries would find nothing to compare with.",
        ),
        Mistake(
            lambda key, num_heads: (
                np.repeat(key, num_heads // len(key), axis=0) / (num_heads // len(key))
            ),
            "the keys are divided by the size of the group: that would flatten the softmax.",
        ),
        Mistake(
            lambda key, num_heads: np.repeat(key, num_heads, axis=0),
            "each key head is there `num_heads` times; its group has num_heads // len(key).",
        ),
    ],
)

# ---------------------------------------------------------------- a state carried along


def _scan_cases() -> list[tuple]:
    shapes = ((4, 1), (7, 3), (13, 5))
    return [
        (np.exp(-np.exp(draw(*s, seed=n))), draw(*s, seed=n + 10)) for n, s in enumerate(shapes)
    ]


def _scanned(decay: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    state, states = np.zeros(inputs.shape[1]), []
    for a, b in zip(decay, inputs, strict=True):
        state = a * state + b
        states.append(state)
    return np.array(states)


def _scanned_late(decay: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros((1, inputs.shape[1])), _scanned(decay, inputs)[:-1]])


scan = Check(
    reference=_scanned,
    cases=_scan_cases,
    results=("the states",),
    verified="the old state fades by this step's decay, then this step's input comes in",
    mistakes=[
        Mistake(
            lambda decay, inputs: np.cumsum(inputs, axis=0),
            "nothing fades: the decay is not used.",
        ),
        Mistake(
            lambda decay, inputs: _scanned(np.roll(decay, 1, axis=0), inputs),
            "the decay of the step before is used; step t has its own.",
        ),
        Mistake(
            lambda decay, inputs: _scanned(decay, (1 - decay) * inputs),
            "the input is multiplied by 1 − decay, as in a moving average; here it comes in whole.",
        ),
        Mistake(
            lambda decay, inputs: _scanned(decay, decay * inputs),
            "the new input fades too; only the old state does.",
        ),
        Mistake(
            lambda decay, inputs: decay * np.concatenate([inputs[:1], inputs[:-1]]) + inputs,
            "only the last input is remembered; the *state* is carried on, with all before it.",
        ),
        Mistake(
            lambda decay, inputs: _scanned(decay, inputs)[-1],
            "this is the last state; the states of all steps are asked.",
        ),
        Mistake(
            _scanned_late,
            "each state lacks the input of its own step: add it before you write the state down.",
        ),
    ],
)

# ---------------------------------------------------------------- messages along edges


def _message_cases() -> list[tuple]:
    three = (draw(3, 2, seed=n) for n in range(3))
    cases: list[tuple] = [(*three, [(1, 0), (2, 0), (0, 1)])]
    for seed, (nodes, d_k, d_v) in enumerate(((5, 3, 7), (7, 5, 2)), start=1):
        rng = np.random.default_rng(seed)
        found = np.argwhere(rng.random((nodes, nodes)) < 0.4).tolist()
        edges = [(a, b) for a, b in found if b != nodes - 1]  # a node that no edge leads to
        sides = ((d_k, 3), (d_k, 4), (d_v, 5))
        cases.append((*(draw(nodes, d, seed=10 * seed + n) for d, n in sides), edges))
    return cases


def _messages(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    edges: list[tuple[int, int]],
    *,
    scale: bool = True,
    over_all: bool = False,
    equal: bool = False,
    normalised: bool = True,
) -> np.ndarray:
    scores = query @ key.T / (np.sqrt(key.shape[1]) if scale else 1.0)
    weights = np.ones_like(scores) if equal else np.exp(scores)
    there = np.zeros(scores.shape, dtype=bool)
    for start, end in edges:
        there[end, start] = True
    total = (weights if over_all else weights * there).sum(axis=1, keepdims=True)
    weights = weights * there
    if normalised:
        weights = weights / np.where(total > 0, total, 1)
    return weights @ value


messages = Check(
    reference=_messages,
    run=lambda answer, query, key, value, edges: answer(query, key, value, edges),
    cases=_message_cases,
    arguments=("query", "key", "value", "edges"),
    results=("the new node vectors",),
    verified="attention under a mask, from edges alone",
    mistakes=[
        Mistake(
            lambda q, k, v, edges: _messages(q, k, v, [(b, a) for a, b in edges]),
            "the messages run against their edges: (a, b) leads from a to b, and b listens.",
        ),
        Mistake(
            lambda q, k, v, edges: _messages(q, k, v, edges, scale=False),
            "the scores are not divided by √d_k.",
        ),
        Mistake(
            lambda q, k, v, edges: _messages(q, k, v, edges, over_all=True),
            "the softmax runs over all nodes; it runs over those with an edge to this one.",
        ),
        Mistake(
            lambda q, k, v, edges: _messages(q, k, v, edges, equal=True),
            "all neighbours count alike: a graph convolution. Here the scores decide.",
        ),
        Mistake(
            lambda q, k, v, edges: _messages(q, k, v, edges, normalised=False),
            "the weights of a node's messages do not sum to 1.",
        ),
        Mistake(
            lambda q, k, v, edges: _messages(k, q, v, edges),
            "query and key have changed places: who listens asks, who sends is asked.",
        ),
        Mistake(
            lambda q, k, v, edges: _messages(q, k, v, [*edges, *((n, n) for n in range(len(q)))]),
            "each node sends a message to itself; only edges of the list carry one.",
        ),
    ],
)

check = SimpleNamespace(
    windows=windows, hide=hide, shared_keys=shared_keys, scan=scan, messages=messages
)

quiz = Quiz(
    [
        Question(
            "Which part of the paper's Transformer is a GPT?",
            (
                ("the encoder", "It sees both sides: it could read the next token off its input."),
                (
                    "the decoder without cross-attention",
                    "Which is the encoder's layer under a causal mask.",
                ),
                (
                    "encoder and decoder, made larger",
                    "That is T5, and the paper's own model, at any size.",
                ),
            ),
            right=1,
        ),
        Question(
            "Why can a BERT not be trained to predict the next word?",
            (
                (
                    "it sees the next word",
                    "Both sides are in sight; hence words are hidden, and asked for.",
                ),
                ("it is too small", "Any size would learn it at once, and nothing else with it."),
                ("it has no output projection", "It has one: the embedding, transposed."),
            ),
            right=0,
        ),
        Question(
            "8 query heads, 2 heads of keys and values. How does the cache shrink?",
            (
                ("to a half: only the keys are shared", "Keys and values both go from 8 to 2."),
                (
                    "not at all: all 8 heads need keys",
                    "Four heads read one copy; it is kept once.",
                ),
                ("to a quarter", "2 of 8 heads are kept, of keys and of values."),
            ),
            right=2,
        ),
        Question(
            "A model counts with rotary positions from 100 instead of 0. Its scores …",
            (
                ("change, as every vector is turned further", "Query and key turn alike."),
                ("stay the same", "A score depends on the distance of query and key alone."),
                ("become 0", "A turn keeps lengths."),
            ),
            right=1,
        ),
        Question(
            "How does one T5 know which of its tasks is asked?",
            (
                ("the first word of the source says it", "The task is text as well."),
                ("each task has a decoder of its own", "There is one decoder, and one vocabulary."),
                ("by the form of the answer", "The answer is what it has to write."),
            ),
            right=0,
        ),
        Question(
            "Reading n tokens, the work of a state-space layer grows with …",
            (
                ("n²", "Each step reads the state, which has one size, and not the past."),
                (
                    "log n",
                    "That is the number of rounds of a parallel scan; its work is n or more.",
                ),
                ("n", "And so it forgets: the state does not grow with what was read."),
            ),
            right=2,
        ),
        Question(
            "What makes a state-space model selective?",
            (
                (
                    "the token sets what is written, kept and read",
                    "The decay, and how much is written and read, are computed from it. So a "
                    "token can keep the state, clear it, or pass unseen.",
                ),
                (
                    "it has several heads, each choosing its own words",
                    "Heads choose nothing; what is written and kept is chosen by the token.",
                ),
                ("it is a convolution", "A convolution is what it then no longer is."),
            ),
            right=0,
        ),
        Question(
            "Self-attention without a mask, as a graph network: which graph?",
            (
                (
                    "a chain, as words stand in a row",
                    "A chain is a window of one place on each side.",
                ),
                (
                    "a tree, as in a grammar",
                    "A tree comes from a grammar; attention asks for none.",
                ),
                (
                    "the complete graph",
                    "With loops: every word sends to every word, and to itself.",
                ),
            ),
            right=2,
        ),
    ]
)
