"""The drawing of a beam search that grows word by word."""

from collections.abc import Collection, Sequence

from transformer_lab.config import check
from transformer_lab.figures.beam_tree import beam_tree, check_tree, group_by_length
from transformer_lab.lab.page.drawing import Drawing


def growing_beam(
    parents: Sequence[int | None],
    words: Sequence[str],
    log_probabilities: Sequence[float],
    *,
    kept: Collection[int],
    winner: int,
) -> Drawing:
    """Draw a beam search (§6.1) one word at a time: what is considered, what is kept, and what wins.

        growing_beam([None, 0, 0], ["<bos>", "le", "la"], [0, -0.7, -0.9], kept={0, 1}, winner=1)

    A press on a beginning works its log-probability out.

    Args:
        parents: For each beginning the number of the one that it continues, which stands before
            it; None for the first, the empty one.
        words: The last word of each beginning.
        log_probabilities: Of each whole beginning, in nats.
        kept: The beginnings that the search went on with, or took as finished.
        winner: The finished sentence that won.

    Raises:
        ValueError: Naming the argument that does not fit.
    """
    check_tree(parents, words, log_probabilities, kept, winner)
    check("winner", winner, f"one of those kept, {sorted(kept)}", winner in kept)
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
        else "The best beginning stays the best to the end"
    )
    won = " ".join(words[node] for node in path[1:])
    alt = (
        f"A beam search as a tree that grows to the right: {len(words) - 1} beginnings were looked at, "
        f"{len(set(kept) - {0})} kept. {title}: “{won}”, with {log_probabilities[winner]:.2f} nats."
    )
    figure = beam_tree(parents, words, log_probabilities, kept=kept, winner=winner, title=title)
    return Drawing("beam", data, figure, alt)


def path_to(node: int, parents: Sequence[int | None]) -> list[int]:
    """Return the partial hypotheses that this one grew from, the empty one first, and itself."""
    path = [node]
    while (parent := parents[path[-1]]) is not None:
        path.append(parent)
    return path[::-1]
