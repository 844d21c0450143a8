"""Which of CPython's own tests run under churn, and which of them cannot pass there, each with its reason.

Data only. A test that fails without churn too (a missing resource, say) is left out by run.py itself and needs no entry.
"""

from __future__ import annotations

MODULES = (
    "test_grammar",
    "test_generators",
    "test_genexps",
    "test_coroutines",
    "test_asyncgen",
    "test_exceptions",
    "test_except_star",
    "test_with",
    "test_traceback",
    "test_sys_settrace",
    "test_patma",
    "test_listcomps",
    "test_setcomps",
    "test_dictcomps",
    "test_scope",
    "test_super",
    "test_descr",
    "test_dataclasses",
    "test_typing",
    "test_contextlib",
    "test_contextlib_async",
    "test_asyncio",
)

# Modules whose subject is the order of instructions itself: padded, never permuted.
NOPS_ONLY: dict[str, str] = {
    "test_sys_settrace": "asserts the order of line events, and jumps between lines of one layout",
}

# Pattern of a test's id (fnmatch) -> why it cannot pass under churn.
LEFT_OUT: dict[str, str] = {
    "test.test_patma.TestTracing.*": "asserts line events, which a jump backwards adds to",
}
