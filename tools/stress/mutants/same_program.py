"""Changes to the package that leave the program the same, each with its reason.

`python -m tools.stress mutants` counts these separately from the changes that no test noticed.
"""

ORDER = "a tuple in another order, asked for membership"
AT_ONCE = "how many positions are computed at once: the same sums, to rounding"
ON_A_CPU = "on a CPU, where the tests run, this is the device anyway"
PATHS = "which of two paths is taken; both give the same up to rounding"
LENGTHS = "the two always have the same length: strictness is a safeguard"
SAME_PROGRAM: dict[tuple[str, str], str] = {
    ("capture.py", "check('mode', mode, \"'zero' or 'mean'\", mode in ('mean', 'zero'))"): ORDER,
    (
        "numpy_reference.py",
        "broadcasts = mask.ndim <= len(scores) and all((m in (s, 1) for m, s in sizes))",
    ): ORDER,
    (
        "decoding/generate.py",
        "for row, word, value in zip(rows.tolist(), last.tolist(), chosen.tolist()):",
    ): LENGTHS,
    (
        "decoding/generate.py",
        "return [Hypothesis(tuple(i), t, t) for i, t in zip(ids, total, strict=False)]",
    ): LENGTHS,
    (
        "decoding/generate.py",
        "log_probabilities = logits.log_softmax(dim=1)",
    ): "the last of two axes, by its other number",
    (
        "decoding/beam.py",
        "order = goes_on.byte().argsort(descending=True, stable=True)[:, :widest]",
    ): "the last axis is the function's default",
    (
        "decoding/generate.py",
        "last = choose(log_probabilities, logits)",
    ): "the two differ by one number a row: the largest is the same word, and so are the shares",
    (
        "decoding/hypothesis.py",
        "limits = source_mask.sum(dim=-1).flatten() + 50",
    ): "numbers one by one, from a tensor or from a list",
    (
        "decoding/given.py",
        "lengths = torch.tensor([len(e.source) for e in examples])",
    ): ON_A_CPU,
    (
        "model/attention.py",
        "if query.device.type == 'cpu' and query.size(-1) == 1 and (not dropout):",
    ): PATHS,
    (
        "model/attention.py",
        "if query.device.type == 'cpu' and query.size(-3) == 1 and (not dropout):",
    ): PATHS,
    ("decoding/beam.py", "ids = torch.empty(len(source), 1, 0, dtype=torch.int64)"): ON_A_CPU,
    ("decoding/beam.py", "ended, goes_on = choose(ends, torch.tensor(places)[:, None])"): ON_A_CPU,
    (
        "decoding/beam.py",
        "fits = alpha * math.log((5 + max(limits)) / 6) <= math.log(sys.float_info.max)",
    ): "no float is exactly on this boundary",
    (
        "decoding/sampling.py",
        "before = probabilities.cumsum(dim=1) - probabilities",
    ): "the last of two axes, by its other number",
    ("training/loss.py", "_LOGITS_AT_ONCE_ELSEWHERE = 27"): AT_ONCE,
    ("decoding/mbr.py", "Ids = tuple[..., int]"): "a name for a type, for its readers",
    ("decoding/mbr.py", "others = max(len(candidates) - 1, 1)"): "the larger of two, named in turn",
    (
        "training/loss.py",
        "size = max(2, _LOGITS_AT_ONCE.get(kind, _LOGITS_AT_ONCE_ELSEWHERE) // weight.size(0))",
    ): AT_ONCE,
    ("training/loss.py", "_LOGITS_AT_ONCE_ELSEWHERE = 2 ** 26"): AT_ONCE,
    ("training/loss.py", "_LOGITS_AT_ONCE = {'cpu': 2 ** 44}"): AT_ONCE,
    (
        "training/loss.py",
        "size = max(1, _LOGITS_AT_ONCE.get(kind, _LOGITS_AT_ONCE_ELSEWHERE) // weight.size(-1))",
    ): AT_ONCE,
    (
        "model/later/family.py",
        "x = model.embed(last[:, None], start=cache[1].length)",
    ): "every layer's cache is as long as any other's",
    (
        "capture.py",
        "rows = torch.cat([rows.expand(batch, -1, -1), own], dim=1)",
    ): "the second to last of three axes, by its other number",
    (
        "numpy_reference.py",
        "return np.maximum(x @ w_1 + b_1, 0.0) @ w_2 + b_2",
    ): "the larger of two, named in turn",
    (
        "training/loss.py",
        "torch.mm(d_logits, weight, out=d_features[at:])",
    ): "PyTorch cuts the buffer to the product's size, and the next slice overwrites what is behind it",
}
"""(file, changed lines) → why the package is the same program after that change."""
