"""Which callable written in C is traced as which Python function."""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import itertools
import operator
import types
from typing import Any

from pydynamo.frontend.polyfills import functools as our_functools
from pydynamo.frontend.polyfills import iteration
from pydynamo.frontend.polyfills import itertools as our_itertools

# Any: every value is a plain function, which to a checker is just a callable.
_CLASSES: dict[type, Any] = {
    getattr(itertools, name): getattr(our_itertools, name)
    for name in (
        *("chain", "product", "repeat", "count", "cycle", "islice", "accumulate", "starmap", "takewhile"),
        *("dropwhile", "zip_longest", "pairwise", "compress", "filterfalse", "combinations", "permutations"),
        *("combinations_with_replacement", "groupby"),
    )
}
_FUNCTIONS: dict[Any, Any] = {
    itertools.chain.from_iterable: our_itertools.chain_from_iterable,
    itertools.tee: iteration.tee,
    operator.countOf: iteration.count_of,
    operator.indexOf: iteration.index_of,
    functools.cmp_to_key: our_functools.cmp_to_key,
    collections._count_elements: our_functools.count_elements,  # type: ignore[attr-defined]
    **{
        getattr(heapq, name): getattr(iteration, name)
        for name in ("heappush", "heappop", "heapreplace", "heappushpop", "heapify")
    },
    **{
        getattr(bisect, name): getattr(iteration, name)
        for name in ("bisect_left", "bisect_right", "insort_left", "insort_right")
    },
}
if hasattr(itertools, "batched"):
    _CLASSES[itertools.batched] = our_itertools.batched


def polyfill_for_class(cls: type) -> types.FunctionType | None:
    """The function that is traced for a call of ``cls``, if there is one."""
    function: types.FunctionType | None = _CLASSES.get(cls)
    return function


def polyfill_for_function(fn: Any) -> types.FunctionType | None:
    """The function that is traced for a call of the builtin ``fn``, if there is one."""
    try:
        function: types.FunctionType | None = _FUNCTIONS.get(fn)
    except TypeError:  # not hashable
        return None
    return function
