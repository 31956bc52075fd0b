"""Checks for the exercises of lesson 16b: a recurrent state, and message passing on a graph."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- a state carried along


def _scan_cases() -> list[tuple]:
    first = (np.array([[0.9], [0.5], [0.2], [0.8]]), np.array([[2.0], [3.0], [-1.0], [4.0]]))
    drawn = [
        (np.exp(-np.exp(random_array(*s, seed=n))), random_array(*s, seed=n + 10))
        for n, s in enumerate(((7, 3), (13, 5)), start=1)
    ]
    odd = np.array([[9.0, -1.0], [0.0, 2.0], [2.0, -1.0], [0.5, 0.0], [-1.0, 2.0]])
    shorter = [(odd, random_array(5, 2, seed=20)), (odd[:1], random_array(1, 2, seed=21))]
    return [first, *drawn, *shorter]


def _scan(decay: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    state, states = np.zeros(inputs.shape[1]), []
    for a, b in zip(decay, inputs, strict=True):
        state = a * state + b
        states.append(state)
    return np.array(states)


_edit_scan = partial(edit_reference, _scan)


def _random_states(chance: RandomValues) -> tuple:
    shape = chance.sizes(2)
    return chance.one_of(1.0, -1.0) * chance.random.random(shape), chance.numbers(*shape)


def _work_out_scan(decay: np.ndarray, inputs: np.ndarray, at: tuple) -> Iterator[Step]:
    step = at[0]
    old = _scan(decay, inputs)[step - 1] if step else np.zeros(inputs.shape[1])
    yield f"the state before step {step}" + ("" if step else ", which starts at 0"), old
    yield f"the decay of step {step}", decay[step]
    yield "their product, which is what is left of the old state", decay[step] * old
    yield f"the input of step {step}", inputs[step]
    yield "what is left plus the input, which is the new state", decay[step] * old + inputs[step]


scan = Check(
    reference=_scan,
    cases=_scan_cases,
    drawn=_random_states,
    results=("the states",),
    working=_work_out_scan,
    verified="the old state is multiplied by this step's decay, and then this step's input is "
    "added",
    mistakes=[
        Mistake(
            lambda decay, inputs: np.cumsum(inputs, axis=0),
            "you did not use the decay, so nothing fades.",
        ),
        Mistake(
            lambda decay, inputs: _scan(np.roll(decay, 1, axis=0), inputs),
            "this uses the previous step's decay, but step t should use its own decay.",
        ),
        Mistake(
            _edit_scan(("+ b", "+ (1 - a) * b")),
            "you multiplied the input by 1 − decay, as in a moving average. Here it should be "
            "added in full.",
        ),
        Mistake(
            _edit_scan(("a * state + b", "a * (state + b)")),
            "the new input fades as well, but the decay should multiply only the old state.",
        ),
        Mistake(
            lambda decay, inputs: decay * np.concatenate([inputs[:1], inputs[:-1]]) + inputs,
            "you carried only the previous input along. Carry the *state* along instead, which "
            "holds all earlier inputs.",
        ),
        Mistake(
            _edit_scan(("np.array(states)", "state")),
            "this is only the last state, but you should return the states of all steps.",
        ),
        Mistake(
            _edit_scan(
                (
                    "        state = a * state + b\n        states.append(state)\n",
                    "        states.append(state)\n        state = a * state + b\n",
                )
            ),
            "each state lacks the input of its own step. Add that input before you store the "
            "state.",
        ),
    ],
)

# ---------------------------------------------------------------- messages along edges


def _message_cases() -> list[tuple]:
    small = (
        [[1, 2], [-1, 1], [3, -2]],
        [[2, 1], [0, 1], [1, 1]],
        [[3, 1], [4, -2], [-1, 5]],
    )
    three = (np.array(numbers, dtype=float) for numbers in small)
    found = np.argwhere(np.random.default_rng(1).random((5, 5)) < 0.4).tolist()
    edges = [(a, b) for a, b in found if b != 4]  # a node that no edge leads to
    five = [random_array(5, d, seed=n) for n, d in enumerate((3, 3, 7), start=13)]
    # Two equal numbers above 256 need not be one object, so these ids are computed one by one.
    many = [random_array(263, d, seed=n) for n, d in enumerate((5, 5, 2), start=23)]
    far = [(int(a), int(b)) for a, b in np.array([(257, 261), (260, 261), (261, 258), (0, 5)])]
    none = [random_array(2, d, seed=d) for d in (5, 5, 3)]
    # Scores in the thousands: positive ones have infinite exponentials, and negative ones have 0.
    large = [50 * five[0], 50 * five[1], five[2]]
    cases = [
        (three, [(1, 0), (2, 0), (0, 1)]),
        (five, edges),
        (many, far),
        (none, []),
        (large, edges),
    ]
    return [(*vectors, edges) for vectors, edges in cases]


def _send_messages(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, edges: list[tuple[int, int]]
) -> np.ndarray:
    scores = query @ key.T / np.sqrt(key.shape[1])
    there = np.zeros(scores.shape, dtype=bool)
    for start, end in edges:
        there[end, start] = True
    largest = np.max(scores, axis=1, keepdims=True, initial=-np.inf, where=there)
    weights = np.exp(np.where(there, scores - largest, -np.inf))
    total = np.where(there.any(axis=1, keepdims=True), weights.sum(axis=1, keepdims=True), 1)
    return weights / total @ value


_edit_messages = partial(edit_reference, _send_messages)


def _random_graph(chance: RandomValues) -> tuple:
    nodes, d_k, d_v = chance.sizes(3)
    scale = chance.one_of(1.0, 1.0, 40.0)  # the last makes exponentials infinite
    sides = (chance.numbers(nodes, d, scale=scale) for d in (d_k, d_k, d_v))
    return *sides, [(int(a), int(b)) for a, b in np.argwhere(chance.flips(nodes, nodes, share=0.4))]


def _work_out_messages(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    edges: list[tuple[int, int]],
    at: tuple,
) -> Iterator[Step]:
    node = at[0]
    senders = np.array([start for start, end in edges if end == node], dtype=int)
    scores = key[senders] @ query[node] / np.sqrt(key.shape[1])
    weights = np.exp(scores - scores.max(initial=-np.inf))
    weights = weights / weights.sum()
    yield f"the nodes from which an edge leads to node {node}", senders
    yield f"the query of node {node} times their keys, divided by √{key.shape[1]}", scores
    yield "the softmax of these scores, which are the weights", weights
    mix = weights @ value[senders]
    yield "the sum of their values, each times its weight (zeros if there are none)", mix


messages = Check(
    reference=_send_messages,
    cases=_message_cases,
    drawn=_random_graph,
    results=("the new node vectors",),
    working=_work_out_messages,
    verified="attention under a mask made from edges alone",
    mistakes=[
        Mistake(
            _edit_messages(("there[end, start]", "there[start, end]")),
            "your messages travel backwards along the edges. An edge (a, b) leads from a to b, so "
            "b should receive the message.",
        ),
        Mistake(
            _edit_messages((" / np.sqrt(key.shape[1])", "")),
            "you did not divide the scores by √d_k.",
        ),
        Mistake(
            _edit_messages(
                (", initial=-np.inf, where=there", ""),
                ("/ total", "/ np.exp(scores - largest).sum(axis=1, keepdims=True)"),
            ),
            "your softmax runs over all nodes, but each node's softmax should run only over its "
            "senders.",
        ),
        Mistake(
            _edit_messages(
                ("np.where(there, scores - largest, -np.inf)", "np.where(there, 0, -np.inf)")
            ),
            "all neighbours count equally, as in a graph convolution. Here the scores should "
            "decide how much each counts.",
        ),
        Mistake(
            _edit_messages((" / total", "")),
            "you did not normalise the weights, but the weights of a node's messages should sum to "
            "1.",
        ),
        Mistake(
            _edit_messages(("scores - largest", "scores")),
            "the exponential of a large score is infinite, and ∞/∞ is NaN. First "
            "subtract the node's largest score from all its scores (lesson 01).",
        ),
        Mistake(
            _edit_messages((", initial=-np.inf, where=there", "")),
            "this subtracts the largest score over all nodes. If it is far above the scores "
            "of a node's senders, all their weights become 0. Subtract the largest score of the "
            "node's *senders*.",
        ),
        Mistake(
            lambda query, key, value, edges: _send_messages(key, query, value, edges),
            "you swapped query and key. The node that receives messages should have the query, "
            "and the senders should have the keys.",
        ),
        Mistake(
            _edit_messages(("    largest =", "    np.fill_diagonal(there, True)\n    largest =")),
            "you let each node send a message to itself, but only the edges in the list should "
            "carry messages.",
        ),
    ],
)
