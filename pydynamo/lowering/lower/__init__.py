"""ATen operators -> Lazy index functions, Loops and Externs; importing it registers every handler."""

from pydynamo.lowering.lower import creation, joining, pointwise, reductions, scattering, views
from pydynamo.lowering.lower.core import FALLBACK, HANDLERS, NATIVE, Lowering

__all__ = [
    "FALLBACK",
    "HANDLERS",
    "NATIVE",
    "Lowering",
    "creation",
    "joining",
    "pointwise",
    "reductions",
    "scattering",
    "views",
]
