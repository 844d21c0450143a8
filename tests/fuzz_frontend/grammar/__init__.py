"""Generates programs from a typed grammar of templates."""

from tests.fuzz_frontend.grammar.programs import generate

__all__ = ["generate"]
