"""Lesson 14, ablations: the checks of its exercises, and its quiz."""

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lesson_01 import draw
from transformer_lab.course.quiz import Question, Quiz

Function = Callable[[np.ndarray], np.ndarray]

# ---------------------------------------------------------------- rows A and B: heads and d_k


def _attention(d_model: int, queries: int, values: int, bias: int = 1) -> int:
    """Parameters of four projections, to `queries` and `values` columns over all heads."""
    return 2 * (d_model + bias) * queries + (d_model + bias) * values + (values + bias) * d_model


attention_size = Check(
    reference=lambda d_model, num_heads, d_k=None: (
        d_k or d_model // num_heads,
        _attention(d_model, num_heads * (d_k or d_model // num_heads), d_model),
    ),
    cases=lambda: [(6, 3), (64, 4), (64, 32), (15, 5, 7), (64, 4, 2)],
    results=("d_k", "the parameters"),
    verified="d_k = d_model / h where it is not given, and W_Q, W_K, W_V, W_O with their biases",
    mistakes=[
        Mistake(
            lambda d_model, num_heads, d_k=None: (
                d_k or d_model // num_heads,
                _attention(d_model, num_heads * (d_k or d_model // num_heads), d_model, bias=0),
            ),
            "the biases are missing: each of the four projections adds one number a column.",
        ),
        Mistake(
            lambda d_model, num_heads, d_k=None: (
                d_k or d_model,
                _attention(d_model, num_heads * (d_k or d_model), num_heads * d_model),
            ),
            "every head is as wide as the model: then h heads cost h times as much. The paper "
            "divides d_model among the heads.",
        ),
        Mistake(
            lambda d_model, num_heads, d_k=None: (
                d_k or d_model // num_heads,
                _attention(
                    d_model,
                    num_heads * (d_k or d_model // num_heads),
                    num_heads * (d_k or d_model // num_heads),
                ),
            ),
            "the values have become d_k wide, too. Row B changes d_k alone: d_v stays d_model / h.",
        ),
        Mistake(
            lambda d_model, num_heads, d_k=None: (
                d_k or d_model // num_heads,
                _attention(d_model, num_heads * (d_k or d_model // num_heads), d_model)
                - (d_model + 1) * d_model,
            ),
            "one of the four projections is missing, W_O or W_V: queries, keys, values, output.",
        ),
        Mistake(
            lambda d_model, num_heads, d_k=None: (
                d_k or d_model // num_heads,
                _attention(d_model, d_k or d_model // num_heads, d_model // num_heads),
            ),
            "this is one head: the three projections hold all h of them side by side.",
        ),
    ],
)

# ---------------------------------------------------------------- where the dropout sits


def _normalised(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


class _Dropout:
    """Drops about four in ten features, others at each call, from the same start for each answer."""

    def __init__(self, seed: int):
        self.generator = np.random.default_rng(seed)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return x * (self.generator.random(x.shape) < 0.6) / 0.6


def _place_cases() -> list[tuple]:
    cases = []
    for length, d_model in ((2, 3), (5, 7), (3, 11)):
        weight = draw(d_model, d_model, seed=length)

        def sublayer(x: np.ndarray, weight: np.ndarray = weight) -> np.ndarray:
            return np.tanh(x @ weight)

        embedded, positions = draw(2, length, d_model, seed=length + 20)
        cases.append((embedded, positions, sublayer, _normalised, _Dropout(length)))
    return cases


def _after(
    x: np.ndarray, sublayer: Function, layer_norm: Function, dropout: Function
) -> np.ndarray:
    """The sub-layer with the paper's dropout, whatever x is."""
    return layer_norm(x + dropout(sublayer(x)))


Rest = Callable[[np.ndarray, np.ndarray, Function, Function, Function], np.ndarray]


def _place(rest: Rest) -> Rest:
    """An answer that begins with the paper's first dropout; `rest` gets x, and what x was before."""

    def first_sublayer(
        embedded: np.ndarray,
        positions: np.ndarray,
        sublayer: Function,
        layer_norm: Function,
        dropout: Function,
    ) -> np.ndarray:
        whole = embedded + positions
        return rest(dropout(whole), whole, sublayer, layer_norm, dropout)

    return first_sublayer


first_sublayer = Check(
    reference=_place(lambda x, _, *functions: _after(x, *functions)),
    cases=_place_cases,
    verified="dropout on the sum of embedding and positions, and on the sub-layer's output alone",
    mistakes=[
        Mistake(
            lambda embedded, positions, *functions: _after(embedded + positions, *functions),
            "the sum of embedding and positions has no dropout; §5.4 names it, too.",
        ),
        Mistake(
            _place(lambda x, _, sublayer, norm, dropout: norm(x + sublayer(x))),
            "the sub-layer's output has no dropout before it is added.",
        ),
        Mistake(
            lambda embedded, positions, *functions: _after(
                functions[2](embedded) + positions, *functions
            ),
            "dropout comes before the positions are added: §5.4 applies it to the sum of both.",
        ),
        Mistake(
            lambda embedded, positions, *functions: _after(
                functions[2](embedded) + functions[2](positions), *functions
            ),
            "embedding and positions have a dropout each: §5.4 applies one to their sum.",
        ),
        Mistake(
            _place(lambda x, _, sublayer, norm, dropout: norm(dropout(x + sublayer(x)))),
            "dropout is on the sum with x: it tears holes into the residual stream, too. Only what "
            "the sub-layer adds may be dropped.",
        ),
        Mistake(
            _place(lambda x, _, sublayer, norm, dropout: norm(x + sublayer(dropout(x)))),
            "dropout is on the sub-layer's input; the paper has it on the output.",
        ),
        Mistake(
            _place(lambda x, _, sublayer, norm, dropout: dropout(norm(x + sublayer(x)))),
            "dropout comes after the norm; the paper has it before the add.",
        ),
        Mistake(
            _place(lambda x, whole, sublayer, norm, dropout: norm(whole + dropout(sublayer(x)))),
            "the residual connection carries x as it was before its dropout: x is what the first "
            "dropout returns, from there on.",
        ),
        Mistake(
            _place(
                lambda x, whole, sublayer, norm, dropout: norm(
                    x + dropout(sublayer(dropout(whole)))
                )
            ),
            "the sub-layer and the residual connection get two different x: call dropout on the sum "
            "once, and keep what it returns.",
        ),
        Mistake(
            _place(lambda x, _, sublayer, norm, dropout: x + dropout(sublayer(norm(x)))),
            "this is pre-norm: the paper normalises the sum, after the add.",
        ),
    ],
)

# ---------------------------------------------------------------- a difference and its error


def _difference(base: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    d = other - base
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


def _run_cases() -> list[tuple]:
    cases = [(np.array([0.4, 0.5, 0.3]), np.array([0.5, 0.7, 0.3]))]
    for n in (2, 5, 7):
        common, own = draw(n, seed=n), draw(2, n, seed=n + 10)
        cases.append((common + 0.3 * own[0], common + 0.3 * own[1] + 0.5))
    return cases


paired_difference = Check(
    reference=_difference,
    cases=_run_cases,
    results=("the difference", "its standard error"),
    verified="the mean of the differences seed by seed, and their spread divided by √n",
    mistakes=[
        Mistake(
            lambda base, other: (
                other.mean() - base.mean(),
                math.sqrt((base.var(ddof=1) + other.var(ddof=1)) / len(base)),
            ),
            "this error takes the two settings as unrelated. Run 3 of both has the same sentences: "
            "take the differences first, then their spread.",
        ),
        Mistake(
            lambda base, other: (
                (other - base).mean(),
                (other - base).std() / math.sqrt(len(base)),
            ),
            "the spread divides by n. It is measured from the mean of the same few numbers: divide "
            "by n − 1 (ddof=1).",
        ),
        Mistake(
            lambda base, other: ((other - base).mean(), (other - base).std(ddof=1)),
            "this is the spread of one difference. The mean of n of them is surer: divide by √n.",
        ),
        Mistake(
            lambda base, other: ((other - base).mean(), (other - base).std(ddof=1) / len(base)),
            "the spread is divided by n; it is the variance that is. The spread is divided by √n.",
        ),
        Mistake(
            lambda base, other: (-_difference(base, other)[0], _difference(base, other)[1]),
            "the sign is turned round: what the change adds, other − base, is asked.",
        ),
        Mistake(
            lambda base, other: ((other - base).mean(), (other - base).var(ddof=1) / len(base)),
            "this is the variance of the mean; its standard error is the square root of it.",
        ),
    ],
)

# ---------------------------------------------------------------- perplexity and accuracy


def _right(log_p: np.ndarray, target: np.ndarray) -> np.ndarray:
    return log_p[np.arange(len(target)), target]


def _accuracy(log_p: np.ndarray, target: np.ndarray) -> float:
    return float((log_p.argmax(axis=-1) == target).mean())


def _word_cases() -> list[tuple]:
    cases = [(np.log([[0.7, 0.2, 0.1], [0.5, 0.1, 0.4]]), np.array([0, 2]))]
    for words, vocabulary in ((5, 7), (13, 5), (3, 11)):
        scores = 2 * draw(words, vocabulary, seed=words)
        log_p = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
        drawn = abs(draw(words, vocabulary, seed=words + 10)).argmax(axis=-1)
        likely = scores.argmax(axis=-1)
        cases.append((log_p, np.where(np.arange(words) % 2, drawn, likely)))
    return cases


perplexity_and_accuracy = Check(
    reference=lambda log_p, target: (
        math.exp(-_right(log_p, target).mean()),
        _accuracy(log_p, target),
    ),
    cases=_word_cases,
    results=("the perplexity", "the accuracy"),
    verified="e to the mean of −log p of the right word, and the share where it is the largest",
    mistakes=[
        Mistake(
            lambda log_p, target: (
                np.exp(-_right(log_p, target)).mean(),
                _accuracy(log_p, target),
            ),
            "the mean is taken after the exponential: one very unlikely word then outweighs all. "
            "Take the mean of −log p first.",
        ),
        Mistake(
            lambda log_p, target: (
                2 ** (-_right(log_p, target).mean()),
                _accuracy(log_p, target),
            ),
            "these logarithms are natural ones: the base is e, not 2.",
        ),
        Mistake(
            lambda log_p, target: (
                1 / np.exp(_right(log_p, target)).mean(),
                _accuracy(log_p, target),
            ),
            "this is 1 over the mean probability; the mean is that of the logarithms.",
        ),
        Mistake(
            lambda log_p, target: (-_right(log_p, target).mean(), _accuracy(log_p, target)),
            "this is the loss in nats; the perplexity is e to it.",
        ),
        Mistake(
            lambda log_p, target: (
                math.exp(-_right(log_p, target).mean()),
                np.exp(_right(log_p, target)).mean(),
            ),
            "the accuracy is the mean probability of the right word. Count instead how often it is "
            "the most probable one, by however little.",
        ),
        Mistake(
            lambda log_p, target: (
                math.exp(-0.9 * _right(log_p, target).mean() - 0.1 * log_p.mean()),
                _accuracy(log_p, target),
            ),
            "this is the smoothed loss. A perplexity counts the right word alone, or models trained "
            "with different ε could not be compared.",
        ),
        Mistake(
            lambda log_p, target: (
                math.exp(-(np.exp(log_p) * log_p).sum(axis=-1).mean()),
                _accuracy(log_p, target),
            ),
            "this is the entropy of the predictions: how sure they are, not how right.",
        ),
    ],
)

# ---------------------------------------------------------------- a power law


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and intercept."""
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(intercept)


def _power_cases() -> list[tuple]:
    cases = [(np.array([1.0, 2.0, 4.0]), np.array([8.0, 4.0, 2.0]))]
    for n, exponent in ((5, 0.5), (7, 1.2), (3, 0.2)):
        x = 100 * 2.0 ** np.arange(n)
        cases.append((x, 3 * x**-exponent * np.exp(0.1 * draw(n, seed=n))))
    return cases


power_law = Check(
    reference=lambda x, y: (
        math.exp(_line(np.log(x), np.log(y))[1]),
        -_line(np.log(x), np.log(y))[0],
    ),
    cases=_power_cases,
    results=("the factor", "the exponent"),
    tolerance=1e-7,
    verified="the straight line through the logarithms, with its slope's sign turned",
    mistakes=[
        Mistake(
            lambda x, y: (
                math.exp(_line(np.log(x), np.log(y))[1]),
                _line(np.log(x), np.log(y))[0],
            ),
            "the slope of a falling line is negative; α stands behind a minus sign already.",
        ),
        Mistake(
            lambda x, y: (_line(np.log(x), np.log(y))[1], -_line(np.log(x), np.log(y))[0]),
            "the factor is still a logarithm: the line's height at log x = 0 is log of the factor.",
        ),
        Mistake(
            lambda x, y: (
                -_line(np.log(x), np.log(y))[0],
                math.exp(_line(np.log(x), np.log(y))[1]),
            ),
            "the two are the other way round: factor, exponent. np.polyfit gives the slope first.",
        ),
        Mistake(
            lambda x, y: (_line(x, y)[1], -_line(x, y)[0]),
            "this is a straight line through x and y themselves; take the logarithm of both.",
        ),
        Mistake(
            lambda x, y: (math.exp(_line(x, np.log(y))[1]), -_line(x, np.log(y))[0]),
            "only y is a logarithm: that is an exponential decay, y = c · e^(−αx).",
        ),
        Mistake(
            lambda x, y: (
                math.exp(_line(np.log10(x), np.log10(y))[1]),
                -_line(np.log10(x), np.log10(y))[0],
            ),
            "the line was fitted to log10 and undone with e: use one base for both.",
        ),
        Mistake(
            lambda x, y: (
                float(y[0] * x[0] ** (-math.log(y[-1] / y[0]) / math.log(x[-1] / x[0]))),
                -math.log(y[-1] / y[0]) / math.log(x[-1] / x[0]),
            ),
            "this joins the first point to the last. The line of least squares uses all points.",
        ),
    ],
)

check = SimpleNamespace(
    attention_size=attention_size,
    first_sublayer=first_sublayer,
    paired_difference=paired_difference,
    perplexity_and_accuracy=perplexity_and_accuracy,
    power_law=power_law,
)

quiz = Quiz(
    [
        Question(
            "Row A of Table 3 goes from 1 head to 32 at d_model 512. What stays the same?",
            (
                ("d_k", "It falls from 512 to 16: d_k = d_model / h."),
                (
                    "the parameters and the products",
                    "The heads share d_model among them, so the comparison is at equal size.",
                ),
                ("how many places a word can look at", "That is what grows: one softmax a head."),
            ),
            right=1,
        ),
        Question(
            "Where does the paper (§5.4) apply dropout?",
            (
                (
                    "to the attention weights and inside the feed-forward network",
                    "That is what many implementations do, or do as well.",
                ),
                ("to the sum of x and the sub-layer's output", "Then x itself would be dropped."),
                (
                    "to each sub-layer's output before the add, and to embeddings + positions",
                    "Two places, both on vectors of width d_model.",
                ),
            ),
            right=2,
        ),
        Question(
            "One run with a change is better than one run without. What do you know?",
            (
                (
                    "nothing yet",
                    "The spread between seeds is not known. Repeat both; with the same seeds for "
                    "both, to see small differences.",
                ),
                ("that the change helps", "Two runs without it may differ by as much."),
                ("that the change does not harm", "Nor that."),
            ),
            right=0,
        ),
        Question(
            "You compare 29 changes with the base and call 2 standard errors a difference. Of 29 "
            "that do nothing, how many pass?",
            (
                ("none: they do nothing", "Each still has about 1 chance in 20."),
                (
                    "one or two",
                    "29 / 20. Ask for more where you ask often: this page takes 3.",
                ),
                ("fourteen, about half", "That would be a coin."),
            ),
            right=1,
        ),
        Question(
            "A difference is inside the noise. What may you write?",
            (
                (
                    "the change does nothing in models of this size",
                    "It may do less than you could have seen.",
                ),
                ("the paper is wrong", "Other data, other size."),
                (
                    "any difference is smaller than so much",
                    "And you name the number: the smallest difference that would have shown.",
                ),
            ),
            right=2,
        ),
        Question(
            "Why can label smoothing raise perplexity and leave accuracy where it is?",
            (
                (
                    "accuracy asks only for the most probable word",
                    "Perplexity asks how much probability the right word has: at ε = 0.1 a "
                    "perfect model gives it about 0.9.",
                ),
                (
                    "perplexity, too, is measured with smoothing",
                    "Not here: the right word alone counts.",
                ),
                ("accuracy is measured on training data", "Both are measured on test sentences."),
            ),
            right=0,
        ),
        Question(
            "On log-log axes the loss falls along a straight line with the data. What follows?",
            (
                (
                    "each doubling divides the loss by the same number",
                    "Over these sizes, and nearly: the loss is multiplied by 2 to the power of "
                    "minus the exponent.",
                ),
                ("it will go on like this for ever", "The line is fitted to the sizes that exist."),
                ("each further sentence helps as much as the one before", "Far less."),
            ),
            right=0,
        ),
    ]
)
