"""Which class written in C is traced as which Python function."""

from __future__ import annotations

import itertools
import types
from typing import Any

from pydynamo.frontend.polyfills import itertools as ours

# Any: every value is a plain function, which to a checker is just a callable.
_CLASSES: dict[type, Any] = {
    itertools.chain: ours.chain,
    itertools.product: ours.product,
    itertools.repeat: ours.repeat,
    itertools.count: ours.count,
    itertools.cycle: ours.cycle,
    itertools.islice: ours.islice,
    itertools.accumulate: ours.accumulate,
    itertools.starmap: ours.starmap,
    itertools.takewhile: ours.takewhile,
    itertools.dropwhile: ours.dropwhile,
    itertools.zip_longest: ours.zip_longest,
    itertools.pairwise: ours.pairwise,
    itertools.compress: ours.compress,
    itertools.filterfalse: ours.filterfalse,
    itertools.combinations: ours.combinations,
    itertools.permutations: ours.permutations,
    itertools.combinations_with_replacement: ours.combinations_with_replacement,
    itertools.groupby: ours.groupby,
}


def polyfill_for_class(cls: type) -> types.FunctionType | None:
    """The function that is traced for a call of ``cls``, if there is one."""
    function: types.FunctionType | None = _CLASSES.get(cls)
    return function
