"""What torch is told of where a symbol comes from: a name. Imported when the first symbol is made.

Inductor's cache takes it into its keys, so it can be pickled and hangs on nothing.
"""

from __future__ import annotations

import dataclasses

from torch._guards import Source


@dataclasses.dataclass(frozen=True)
class NamedSource(Source):
    """An input, by its name. Torch 2.11 asks for ``name``, which it makes of a template, and 2.15 for either."""

    text: str

    @property
    def _name_template(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        return self.text
