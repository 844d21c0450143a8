"""Which opcodes have which kind of operand, as `dis` of the running version says."""

from __future__ import annotations

import dis
from typing import Final

_PAIRS: Final = (
    "LOAD_FAST_LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
    "STORE_FAST_LOAD_FAST",
    "STORE_FAST_STORE_FAST",
)

PAIR: Final = frozenset(dis.opmap[name] for name in _PAIRS if name in dis.opmap)
"""Two locals."""
LOCAL: Final = frozenset([*dis.haslocal, *dis.hasfree]) - PAIR
"""A local, cell or free variable."""
NAME: Final = frozenset(dis.hasname)
"""A name in ``co_names``."""
CONST: Final = frozenset(dis.hasconst)
"""A constant."""
POOLED: Final = PAIR | LOCAL | NAME | CONST
"""Any of these."""
