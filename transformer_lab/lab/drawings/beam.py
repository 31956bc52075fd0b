"""A drawing of a beam search as a tree that grows word by word."""

from collections.abc import Collection, Sequence

from transformer_lab.config import check, join_with_or
from transformer_lab.lab.page.drawing import Drawing


def growing_beam(
    parents: Sequence[int | None],
    words: Sequence[str],
    log_probabilities: Sequence[float],
    *,
    kept: Collection[int],
    winner: int,
) -> Drawing:
    """Draw a beam search (§6.1) word by word: the candidates, the ones kept, and the winner.

        growing_beam([None, 0, 0], ["<bos>", "le", "la"], [0, -0.7, -0.9], kept={0, 1}, winner=1)

    Clicking on a partial sentence shows how its log-probability is computed.

    Args:
        parents: For each partial sentence, the index of the earlier one that it continues; None for
            the first, which is empty.
        words: The last word of each partial sentence.
        log_probabilities: The total log-probability of each partial sentence, in nats.
        kept: The indices of the partial sentences that the search continued or accepted as
            finished.
        winner: The index of the finished sentence that won.

    Raises:
        ValueError: If an argument is invalid; the message names it.
    """
    check_tree(parents, words, log_probabilities, kept, winner)
    columns = group_by_length(parents, log_probabilities)
    data = {
        "parents": list(parents),
        "words": list(words),
        "values": [round(float(value), 4) for value in log_probabilities],
        "kept": sorted(kept),
        "winner": winner,
        "columns": columns,
    }
    path = path_to(winner, parents)
    behind = [
        node
        for node, nodes in zip(path, columns, strict=False)
        if log_probabilities[node] < max(log_probabilities[other] for other in nodes)
    ]
    title = (
        f"“{words[behind[0]]}” is behind at first and wins in the end"
        if behind
        else "The best beginning leads from start to end"
    )
    won = " ".join(words[node] for node in path[1:])
    alt = (
        f"A beam search as a tree that grows to the right: {len(words) - 1} beginnings were considered, "
        f"{len(set(kept) - {0})} kept. {title}: “{won}”, with {log_probabilities[winner]:.2f} nats."
    )
    return Drawing("beam", data, alt)


def path_to(node: int, parents: Sequence[int | None]) -> list[int]:
    """Return the indices of the hypotheses on the path from the empty one to `node`, inclusive."""
    path = [node]
    while (parent := parents[path[-1]]) is not None:
        path.append(parent)
    return path[::-1]


def check_tree(
    parents: Sequence[int | None],
    words: Sequence[str],
    log_probabilities: Sequence[float],
    kept: Collection[int],
    winner: int,
) -> None:
    """Raise a ValueError unless the nodes form one tree, each with a word and a log-probability."""
    nodes = range(len(parents))
    check("len(parents)", len(parents), "at least 1", len(parents) > 0)
    check(
        "parents[0]", parents[0], "None, because the first node has no parent", parents[0] is None
    )
    for node in nodes[1:]:
        parent = parents[node]
        fits = parent is not None and 0 <= parent < node
        check(f"parents[{node}]", parent, "the index of an earlier node", fits)
    for name, given in (("words", words), ("log_probabilities", log_probabilities)):
        check(
            f"len({name})",
            len(given),
            f"{len(nodes)}, because there are {len(nodes)} nodes",
            len(given) == len(nodes),
        )
    if strange := sorted(set(kept) - set(nodes)):
        raise ValueError(f"kept contains {strange[0]}; expected nodes from 0 to {nodes[-1]}")
    check(
        "winner",
        winner,
        f"a node that is kept: {join_with_or(map(str, sorted(kept)))}",
        winner in kept,
    )


def group_by_length(
    parents: Sequence[int | None], log_probabilities: Sequence[float]
) -> list[list[int]]:
    """Group the nodes by sentence length, shortest first, in the order in which they are drawn."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        if parent is not None:
            children.setdefault(parent, []).append(node)
    columns = [[0]]
    while True:
        found = [
            child
            for node in columns[-1]
            for child in sorted(children.get(node, ()), key=lambda n: -log_probabilities[n])
        ]
        if not found:
            return columns
        columns.append(found)
