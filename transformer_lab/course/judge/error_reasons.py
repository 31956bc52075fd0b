"""Short explanations, for learners, of error messages from Python, NumPy and PyTorch.

`errors.describe_error` looks them up.
"""

import re
from collections.abc import Callable, Sequence

Reason = Callable[[re.Match[str]], str]
ONE_TRUTH = (
    "an array has many truth values, but Python's `if`, `and`, `or`, `not`, `max` and `min` "
    "need a single one. For arrays, use &, |, ~, where or maximum"
)
NUMPY = (
    "a NumPy function was given a tensor that needs a gradient, but no gradient passes through "
    "NumPy. Use @, the tensor's own methods or torch's functions, such as torch.exp for np.exp"
)
NUMPYS_WORDS = (
    "a NumPy function, or one that calls NumPy functions, was given a PyTorch tensor. Use the "
    "tensor's own methods, which take dim instead of axis, and keepdim instead of keepdims"
)
WHOLE = "an integer is needed here. Division with // gives an integer, but / gives a float"
NONE = "a value used here is None. Does the function that it comes from have a `return`?"
NO_GRADIENT = (
    "a .grad is None if `backward` has not been called yet, if `zero_grad` has cleared it, or if no "
    "gradient reaches the parameter. In the last case, leave that parameter out"
)
NONES: Sequence[tuple[str, str]] = [
    (r"\.grad\b", NO_GRADIENT),
    (
        r"\.get\([^,()]*\)",
        "get returns None for a missing key, but get(key, 0) returns 0",
    ),
    (
        r"=\s*[\w.\[\]]+\.(?:append|extend|insert|sort|reverse)\(",
        "append, sort and the like change the list before the dot, and return None",
    ),
]
"""Causes of a None other than a missing `return`, as pairs (pattern for the code, explanation)."""


def explain_matrix_product(left: str, right: str) -> str:
    """Explain why two matrices cannot be multiplied, given the two lengths that differ."""
    return (
        "in a matrix product, the rows of the left side and the columns of the right side must "
        f"have the same length, but here they are {left} and {right} long"
    )


def explain_unequal_axes(axis: str, a: str, b: str) -> str:
    """Explain why two arrays cannot be combined elementwise, given the axis and its two lengths."""
    lengths = f"length {a} on one side and {b} on the other"
    return f"{axis} has {lengths}, but only an axis of length 1 can be broadcast"


def explain_linear_shapes(found: re.Match[str]) -> str:
    """Explain PyTorch's error about an input that does not fit a Linear layer."""
    return (
        explain_matrix_product(found.group(2), found.group(3))
        + ". For a Linear, the left side is its input"
    )


def explain_broadcasting(found: re.Match[str]) -> str:
    """Explain NumPy's broadcasting error by naming the last axis that does not fit."""
    a, b = ([int(n) for n in re.findall(r"\d+", found.group(k))] for k in (1, 2))
    for back, (m, n) in enumerate(zip(a[::-1], b[::-1], strict=False), 1):
        if m != n and 1 not in (m, n):
            return explain_unequal_axes(f"axis −{back} (counted from the end)", str(m), str(n))
    return "the two shapes do not fit together"


def explain_torch_axis(found: re.Match[str]) -> str:
    """Explain PyTorch's message about an axis out of range."""
    return describe_axes(int(found.group(1)) + 1)


def explain_numpy_axis(found: re.Match[str]) -> str:
    """Explain NumPy's message about an axis out of range."""
    return describe_axes(int(found.group(1)))


def describe_axes(n: int) -> str:
    """Describe the axes of an array with n dimensions."""
    if n < 2:
        return "there is only one axis, axis 0" if n else "a single number has no axes"
    return f"there are {n} axes, numbered 0 to {n - 1} or −{n} to −1"


def explain_index(found: re.Match[str]) -> str:
    """Explain an index that is out of range."""
    n = int(found.group(1))
    if n < 2:
        return "there is only one entry, at index 0" if n else "this axis is empty"
    return f"there are {n} entries, so the last index is {n - 1}"


def explain_none(line: str, body: str = "") -> str:
    """Explain an error caused by a None that is not an argument.

    Args:
        line: The learner's line that raised the error.
        body: The learner's whole function if one of its variables is None, and "" otherwise.
    """
    for text in (line, body):
        for pattern, reason in NONES:
            if re.search(pattern, text):
                return reason
    return NONE


REASONS: Sequence[tuple[str, Reason]] = [
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        explain_linear_shapes,
    ),
    (
        r"batch2 tensor to be: \[\d+, (\d+)\] but got: \[\d+, (\d+)\]",
        lambda m: explain_matrix_product(m.group(1), m.group(2)),
    ),
    (
        r"matmul: Input operand 1 has a mismatch .*\(size (\d+) is different from (\d+)\)",
        lambda m: explain_matrix_product(m.group(2), m.group(1)),
    ),
    (
        r"shapes \(.*\) and \(.*\) not aligned: (\d+).* != (\d+)",
        lambda m: explain_matrix_product(m[1], m[2]),
    ),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at .*dimension (\d+)",
        lambda m: explain_unequal_axes(f"axis {m.group(3)}", m.group(1), m.group(2)),
    ),
    (
        r"could not be broadcast together with shapes \(([\d,]+)\) \(([\d,]+)\)",
        explain_broadcasting,
    ),
    (
        r"invalid for input of size (\d+)|cannot reshape array of size (\d+)",
        lambda m: f"the product of the new sizes must be {m[1] or m[2]}, the number of entries",
    ),
    (r"Dimension out of range \(expected to be in range of \[-\d+, (\d+)\]", explain_torch_axis),
    (r"axis -?\d+ is out of bounds for array of dimension (\d+)", explain_numpy_axis),
    (r"index -?\d+ is out of bounds for (?:dimension|axis) \d+ with size (\d+)", explain_index),
    (r"too many indices", lambda _: "there are fewer axes than indices in the brackets"),
    (
        # Since Python 3.12, a slice can be a key.
        r"unhashable type: 'slice'|^KeyError: slice\(",
        lambda _: "a dict cannot be sliced with [a:b], but a list can",
    ),
    (
        r"^KeyError: ",
        lambda _: (
            "the dict has no such key, but [] and += need a key that exists. For a missing key, "
            "get(key, 0) returns 0"
        ),
    ),
    (
        r"unhashable type: '(\w+)'",
        lambda m: (
            f"a {m[1]} can change, so it cannot be in a set or be a key of a dict. Use a tuple, "
            "as in (a, b) instead of [a, b]"
        ),
    ),
    (
        r"list index out of range",
        lambda _: "the list has no entry at that index. Indices run from 0 to the length minus 1",
    ),
    (
        r"string index out of range",
        lambda _: (
            "the string has no character at that index. Indices run from 0 to the length minus 1"
        ),
    ),
    (r"Boolean value of Tensor|truth value of an array", lambda _: ONE_TRUTH),
    (
        r"Can't call numpy\(\) on Tensor that requires grad",
        lambda _: NUMPY,
    ),
    (
        r"expected scalar type|must have the same dtype|same dtype, but got",
        lambda _: (
            "single and double precision are mixed. Make new tensors with the dtype of the given ones"
        ),
    ),
    (
        r"view size is not compatible",
        lambda _: (
            "after a transpose the numbers are stored in another order, which view cannot "
            "read. Use reshape"
        ),
    ),
    (
        r"(?:assign module|assign parameters?) before Module.__init__",
        lambda _: "the first line of __init__ should be super().__init__()",
    ),
    (
        r"'NoneType' object|and 'NoneType'|'NoneType' and|iterable NoneType|, not NoneType",
        lambda _: NONE,
    ),
    (
        r"name '(\w+)' is not defined",
        lambda m: f"`{m[1]}` is not an argument, and no line above defines it",
    ),
    (
        r"cannot access local variable '(\w+)'",
        lambda m: f"`{m[1]}` gets its value on a line that was not reached",
    ),
    (r"maximum recursion depth", lambda _: "the function never stops calling itself"),
    (
        r"'float' object cannot be interpreted as an integer|must be integers or slices, not float|"
        r"only integer tensors of a single element|indices must be integers|arrays used as indices",
        lambda _: WHOLE,
    ),
    (
        r"'numpy.ndarray' object has no attribute '(\w+)'",
        lambda m: f"this is a NumPy array, which has no .{m[1]}. PyTorch's tensors may have one",
    ),
    (
        r"'Tensor' object has no attribute '(\w+)'",
        lambda m: f"this is a PyTorch tensor, which has no .{m[1]}. NumPy's arrays may have one",
    ),
    (
        r"'list' object has no attribute '(shape|ndim|T|size|mean|sum)'",
        lambda _: "this is a list. Turn it into an array with np.array or torch.tensor",
    ),
    (
        r"'tuple' object has no attribute 'append'|'tuple' object does not support item assignment",
        lambda _: "a tuple cannot change. Make a longer one with +, as in ids + (word,)",
    ),
    (
        r"'tuple' object has no attribute",
        lambda _: "this is a tuple. If it holds several results, unpack them: a, b = …",
    ),
    (
        r"'list' object has no attribute 'grad'",
        lambda _: (
            "a list has no .grad, but each parameter in the list has one. If the list contains "
            "lists, join those first, with +"
        ),
    ),
    (
        r"'list' object has no attribute 'layout'|must be Tensor, not (?:list|tuple)",
        lambda _: (
            "a list is given where one tensor is needed. Join its tensors with torch.stack or "
            "torch.cat"
        ),
    ),
    (
        r"'list' object has no attribute '(\w+)'",
        lambda m: (
            f"this is a list, which has no .{m[1]}. Each of its items may have one, so loop over the list"
        ),
    ),
    (
        r"'dict' object has no attribute 'grad'",
        lambda _: (
            "a dict has no .grad, but parameters have one. In an optimiser's param_groups, each "
            'group is a dict that holds its parameters in a list, group["params"]'
        ),
    ),
    (
        r"'dict' object has no attribute '(\w+)'",
        lambda m: (
            f'a dict has no .{m[1]}. Look things up in it with square brackets, as in d["key"]'
        ),
    ),
    (
        r"'([A-Z]\w*)' object has no attribute '(\w+)'",
        lambda m: (
            f"this {m[1]} has no .{m[2]}. If this is your class, assign self.{m[2]} in __init__"
        ),
    ),
    (
        r"missing \d+ required positional arguments?: (.*)",
        lambda m: f"the call must also pass {m[1]}",
    ),
    (
        r"not enough values to unpack|too many values to unpack",
        lambda _: (
            "the number of names on the left of = differs from the number of values on the right"
        ),
    ),
    (
        r"cannot unpack non-iterable (\w+) object",
        lambda m: (
            f"a single {m[1]} cannot be unpacked into several names. enumerate(…), zip(…) and "
            "items() give pairs"
        ),
    ),
    (
        r"can't multiply sequence by non-int of type '(?:numpy\.)?float",
        lambda _: (
            "* repeats a list, a tuple or a string a whole number of times. To multiply each "
            "number in it, use an np.array"
        ),
    ),
    (
        r"can't multiply sequence by non-int of type",
        lambda _: "* repeats a list, a tuple or a string. To put two of them together, use +",
    ),
    (
        r"'torch\.return_types\.m",
        lambda _: (
            "PyTorch's max and min with a dim return both the values and their indices. Use amax "
            "and amin for the values alone"
        ),
    ),
    (
        r"'Tensor' and 'Linear'|'Linear' and 'Tensor'",
        lambda _: "call a layer, as in layer(x), instead of multiplying by it, as in x @ layer",
    ),
    (
        r"for \^=?: |ufunc 'bitwise_xor' not supported",
        lambda _: "^ does not mean a power in Python. Write ** instead",
    ),
    (
        r"unsupported operand type\(s\) for .*: '(.+)' and '(.+)'|concatenate (\w+) \(not \"(\w+)\"",
        lambda m: f"the types {m[1] or m[3]} and {m[2] or m[4]} cannot be combined in this way",
    ),
    (
        r"object of type '(int|float)' has no len",
        lambda _: "a single number has no length. Are two arguments swapped?",
    ),
    (
        r"'(int|float)' object is not iterable",
        lambda _: "a single number cannot be looped over. To count up to n, use range(n)",
    ),
    (
        r"only integer scalar arrays can be converted to a scalar index|object too deep",
        lambda _: (
            "an array is given where an integer is needed, such as a size or an axis. Are the "
            "arguments in the right order?"
        ),
    ),
    (
        r"could not broadcast input array from shape \((.*?),?\) into shape \((.*?),?\)",
        lambda m: f"there is room for an array of shape ({m[2]}), but yours has shape ({m[1]})",
    ),
    (
        r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
        lambda m: f"there is room for length {m[1]}, but what you put there has length {m[2]}",
    ),
    (
        r"tuple index out of range",
        lambda _: "the tuple has no entry at that index. Indices run from 0 to the length minus 1",
    ),
    (
        r"received an invalid combination of arguments - got \(.*(axis|keepdims)=",
        lambda _: NUMPYS_WORDS,
    ),
    (
        r"got an unexpected keyword argument '(\w+)'",
        lambda m: f"that function has no argument `{m[1]}`",
    ),
    (
        r"must be Tensor, not numpy\.ndarray|expected Tensor as element|but got numpy\.ndarray",
        lambda _: (
            "a PyTorch function was given a NumPy array. Use NumPy's own functions, such as np.exp, "
            "np.where or np.matmul"
        ),
    ),
    (
        r"only (?:length-1|0-dimensional) arrays can be converted",
        lambda _: (
            "float(…) and the functions in math take one number, but this is an array. For arrays, use "
            "functions such as np.exp"
        ),
    ),
    (
        r"axes don't match array",
        lambda _: (
            "NumPy's transpose needs all axes, in their new order. To swap two, use swapaxes(1, 2)"
        ),
    ),
    (
        r"[Cc]annot interpret '-?\d+' as a data type",
        lambda _: (
            "several sizes or axes must be one argument, in their own brackets, as in "
            "np.zeros((2, 3)) or x.sum((-2, -1))"
        ),
    ),
    (
        r"takes from \d+ to \d+ positional arguments? but (\d+) (?:was|were) given|"
        r"takes (?:\d+|no) (?:positional )?arguments? (?:but|\()\s*(\d+)",
        lambda _: (
            "the function is given more arguments than it takes. Is it the one that you mean?"
        ),
    ),
    (
        r"Integers to negative integer powers",
        lambda _: (
            "NumPy cannot raise integers to negative integer powers. Are brackets missing, or a "
            "decimal point?"
        ),
    ),
    (
        r"shape of the mask .* does not match the shape of the indexed tensor|"
        r"boolean index did not match",
        lambda _: "indexing does not broadcast a mask, but masked_fill and where do",
    ),
    (
        r"missing the required \"forward\"",
        lambda _: "the class has no forward. Is def forward indented too far, inside __init__?",
    ),
    (
        r"modified by an inplace operation|leaf Variable that requires grad is being used in an in-place",
        lambda _: (
            "a tensor that the backward pass still needs was changed in place. Make a new one with "
            "masked_fill or where"
        ),
    ),
    (
        r"'(?:int|float|bool)' object has no attribute '(\w+)'",
        lambda m: (
            f"this is a single number, which has no .{m[1]}. Are two arguments swapped, or has an "
            "array become a number too early?"
        ),
    ),
    (
        r"expected sequence of length \d+ at dim",
        lambda _: (
            "torch.tensor needs rows of the same length, but these differ. Are all rows padded?"
        ),
    ),
    (
        r"'(\w+)' object is not subscriptable",
        lambda m: f"square brackets pick items from a list or an array, but this has type {m[1]}",
    ),
    (
        r"module '(\w+)' has no attribute '(\w+)'",
        lambda m: (
            f"there is no {m[2]} in {m[1]}. The modules math, np and torch have different functions"
        ),
    ),
    (
        r"'(\w+)' object cannot be interpreted as an integer",
        lambda m: f"a {m[1]} is given where an integer is needed",
    ),
    (
        r"tensors used as indices must be",
        lambda _: "an index must contain integers or booleans, but this one contains floats",
    ),
    (
        r"is not in (?:list|tuple)|tuple\.index\(x\): x not in tuple",
        lambda _: "`index` does not find this value. Is it the right value, and the right list?",
    ),
    (
        r"'(\w+)' object is not iterable|must be an iterable, not (\w+)",
        lambda m: (
            f"a value of type {m[1] or m[2]} cannot be looped over, but a list, a tuple or an "
            "array can"
        ),
    ),
    (
        r"must be tuple of ints",
        lambda _: "sizes must be integers in a tuple, such as (3, 5)",
    ),
    (
        r"can't be cast to the desired output type",
        lambda _: (
            "floats are written into an integer tensor. Convert that tensor with .float() first"
        ),
    ),
    (
        r"Input dtype must be either a floating point or complex dtype",
        lambda _: (
            "PyTorch cannot take the mean of integers or booleans. Convert them to floats with "
            ".float()"
        ),
    ),
    (
        r"Quantiles must be in the range",
        lambda _: "a quantile function takes the numbers first, and then a fraction from 0 to 1",
    ),
    (
        r"only one element tensors can be converted|elements cannot be converted to Scalar",
        lambda _: "several numbers are given where a single number is needed",
    ),
    (
        r"does not require grad and does not have a grad_fn",
        lambda _: (
            "no gradient can flow back from this tensor. Is there a detach, a no_grad or a plain "
            "number along the way?"
        ),
    ),
    (
        r"'\S+' object is not callable",
        lambda _: (
            "brackets after a name call it, but this is not a function. Are two arguments swapped, or "
            "is a * missing?"
        ),
    ),
    (
        r"'(?:function|method)' object has no attribute '(\w+)'",
        lambda m: (
            f"this is a function, which has no .{m[1]}. What it returns may have one, so call "
            "it, with brackets"
        ),
    ),
    (
        r"duplicate value in 'axis'|appears multiple times in the list of dims",
        lambda _: "one axis is given twice. The last axis is −1, and the one before it is −2",
    ),
    (
        r"non-broadcastable output operand with shape",
        lambda _: (
            "+= and the like write into the array on the left, which is too small for the result. "
            "Make a new array with x = x + y"
        ),
    ),
    (
        r"stack expects each tensor to be equal size",
        lambda _: (
            "stack needs parts of the same shape. If their shapes differ, use flatten and torch.cat"
        ),
    ),
    (
        r"expected a non-empty list of Tensors|stack expects a non-empty TensorList",
        lambda _: "the list is empty in this case, so there is nothing to put together",
    ),
    (
        r"einsum\(\): subscript (\w) has size (\d+) .* seen size (\d+)",
        lambda m: f"the letter {m[1]} stands for two different lengths, {m[3]} and {m[2]}",
    ),
    (
        r"Sizes of tensors must match except in dimension (\d+)|"
        r"all the input array dimensions except for the concatenation axis must match",
        lambda m: (
            "parts that are joined along one axis must have the same length along all others"
            + (f". Here they are joined along axis {m[1]}" if m[1] else "")
        ),
    ),
    (
        r"Expected target size",
        lambda _: (
            "this loss takes axis 1 to be the vocabulary, but in our logits the vocabulary is last. "
            "Apply flatten(0, 1) to logits and ids, or swap the last two axes of the logits"
        ),
    ),
    (
        r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
        lambda m: (
            f"each row of logits needs an id, but the first axis is {m[1]} long for the logits and "
            f"{m[2]} for the ids. Did you flatten batch and steps in both?"
        ),
    ),
    (
        r"not implemented for '(?:Long|Int|Bool)'",
        lambda _: (
            "integers or booleans are given where floats are needed. Are two arguments swapped?"
        ),
    ),
    (
        r"[Ee]xpected dtype int\S* for index|Index tensor must have the same number of dimensions",
        lambda _: (
            "a loss takes the logits first, with one more axis than the ids. Are the two in this "
            "order, with all of their axes?"
        ),
    ),
    (
        r"'[<>]=?' not supported between instances of '(list|tuple)' and '(?:int|float)'",
        lambda m: (
            f"a {m[1]} cannot be compared with a number. Turn it into an np.array, or compare each entry"
        ),
    ),
    (
        r"start \(\d+\) \+ length \(\d+\) exceeds dimension size",
        lambda _: "narrow takes a start and a length, whereas a slice takes a start and an end",
    ),
    (r"division by zero", lambda _: "the divisor is 0"),
    (r"math range error|math domain error", lambda _: "there is no finite result for this number"),
]


def find_reason(text: str, line: str = "") -> str | None:
    """Return the explanation of an error, or None if there is none for its text.

    Args:
        text: The error's type and text, such as "KeyError: 'a'".
        line: The learner's line that raised the error, if known.
    """
    if re.search(r"\braise\b", line):
        return None  # the learner knows what their own errors mean
    if text.startswith("KeyError: ") and not reads_key(line):
        return None
    if "tuple index out of range" in text and re.search(r"\bshape\b|\bsize\(", line):
        return "the shape has one entry for each axis, counted from 0, so none at that index"
    turned = find_turned_matrix(text, line)
    if turned:
        return turned
    for pattern, reason in REASONS:
        found = re.search(pattern, text)
        if found:
            return reason(found)
    return None


def find_turned_matrix(text: str, line: str) -> str | None:
    """Explain an error caused by a matrix product whose right side should be transposed.

    In such a product, the rows of both sides have the same length. Only a product written in `line`
    itself counts, because PyTorch's Linear transposes its weight. Return None for any other error.
    """
    found = re.search(r"cannot be multiplied \(\d+x(\d+) and (?!\1x)\d+x\1\)", text)
    if not found or not re.search(r"@|\b(?:matmul|mm)\(", line):
        return None
    of_linear = ". A Linear stores its weight as (out, in)" if "weight" in line else ""
    return (
        f"the rows on both sides have length {found[1]}, so the right side must be transposed, with .T"
        f"{of_linear}"
    )


def reads_key(line: str) -> bool:
    """Return whether a line of code looks up a key with [] but does not delete or pop one."""
    takes_out = re.search(r"\bdel\b|\.(?:pop|popitem|remove)\(", line)
    return bool(re.search(r"[\w)\]]\[", line)) and not takes_out
