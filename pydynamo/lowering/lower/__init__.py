"""ATen operators -> Lazy index functions, Loops and Externs; importing it registers every handler."""

from pydynamo.lowering.lower import creation, division, joining, pointwise, reductions, scattering, views
from pydynamo.lowering.lower.core import FALLBACK, HANDLERS, NATIVE, Lowering

__all__ = [
    "FALLBACK",
    "HANDLERS",
    "NATIVE",
    "Lowering",
    "creation",
    "division",
    "joining",
    "pointwise",
    "reductions",
    "scattering",
    "views",
]
