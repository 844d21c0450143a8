"""How PyCodegen fetches each kind of value, what its two passes keep, and the order of a graph break's suffix.

Each test compiles a small function and looks at the instructions that were written, by name and by what they load;
the names are those of any Python version, without what differs between them (NULLs, prefixes, superinstructions).
"""

from __future__ import annotations

import dis
import types
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402
from pydynamo.frontend import events  # noqa: E402

pytestmark = pytest.mark.smoke
_SILENT = frozenset(
    {"RESUME", "PUSH_NULL", "PRECALL", "CACHE", "NOP", "KW_NAMES", "EXTENDED_ARG", "MAKE_CELL", "NOT_TAKEN"}
)
_SAME = {
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_SMALL_INT": "LOAD_CONST",
    "RETURN_CONST": "LOAD_CONST",
    "LOAD_CONST_IMMORTAL": "LOAD_CONST",
    "LOAD_CONST_MORTAL": "LOAD_CONST",
}


def written(fn: Any, *args: Any, **options: Any) -> list[tuple[str, Any]]:
    """The code written for a call as (name, operand); the operand of a held object is its name."""
    seen: list[types.CodeType] = []
    with events.listening(lambda kind, facts: seen.append(facts["new"]) if kind == "bytecode" else None):
        pydynamo.compile(fn, backend="eager", **options)(*args)
    found: list[tuple[str, Any]] = []
    for inst in dis.get_instructions(seen[0]):
        name = _SAME.get(inst.opname, inst.opname)
        if name in _SILENT:
            continue
        if "_FAST_" in name and isinstance(inst.argval, tuple):
            parts = [
                "STORE_FAST" if "STORE" in part else "LOAD_FAST"
                for part in name.replace("_BORROW", "").split("_FAST")[:2]
            ]
            found += zip(parts, inst.argval, strict=True)
            continue
        value = inst.argval
        if name == "LOAD_CONST" and not isinstance(value, int | str | tuple | None):
            value = getattr(value, "__name__", type(value).__name__)
        found.append((name, value))
        if inst.opname == "RETURN_CONST":
            found.append(("RETURN_VALUE", None))
    return found


def names(code: list[tuple[str, Any]]) -> list[str]:
    return [name for name, _ in code]


def after_graph(code: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """What follows the call of the graph and the store of its outputs."""
    at = names(code).index("CALL") + 1
    return code[at:]


def subscripts(code: list[tuple[str, Any]]) -> int:
    return sum(name == "BINARY_SUBSCR" or (name, value) == ("BINARY_OP", 26) for name, value in code)


X = torch.ones(2)


# the priority list ---------------------------------------------------------------------------------------------------
def test_the_value_on_top_of_the_stack_is_copied() -> None:
    def f(x: Any) -> Any:
        y = [x + 1]
        return y, y

    code = after_graph(written(f, X))
    built = names(code).index("BUILD_LIST")
    assert names(code).count("BUILD_LIST") == 1
    assert "COPY" in names(code)[built:] and names(code)[-1] == "RETURN_VALUE"


def test_a_value_that_is_kept_comes_from_its_temp() -> None:
    def f(x: Any) -> Any:
        y = [x + 1]
        return y, 0, y

    code = after_graph(written(f, X))
    temps = [value for name, value in code if name == "STORE_FAST" and value.startswith("tmp")]
    assert len(temps) == 1 and ("LOAD_FAST", temps[0]) in code
    assert names(code).count("BUILD_LIST") == 1


def test_a_value_that_exists_comes_from_its_source() -> None:
    def f(x: Any, table: Any) -> Any:
        return x + 1, table["rows"], x

    code = after_graph(written(f, X, {"rows": [1]}))
    at = code.index(("LOAD_FAST", "table"))
    assert code[at + 1] == ("LOAD_CONST", "rows")
    assert ("LOAD_FAST", "x") in code[at:]


def test_a_tensor_of_the_graph_is_an_item_of_its_outputs() -> None:
    def f(x: Any) -> Any:
        return {"a": x + 1, "b": x * 2}

    code = written(f, X)
    outputs = [index for index, part in enumerate(code) if part == ("LOAD_FAST", "graph_out_0")]
    assert [code[index + 1] for index in outputs] == [("LOAD_CONST", 0), ("LOAD_CONST", 1)]
    assert ("STORE_FAST", "graph_out_0") in code and code[-2] == ("DELETE_FAST", "graph_out_0")


def test_a_constant_is_loaded() -> None:
    def f(x: Any, n: int) -> Any:
        return x + 1, n + 1

    code = after_graph(written(f, X, 41))
    assert ("LOAD_CONST", 42) in code and ("LOAD_FAST", "n") not in code


@pytest.mark.parametrize(
    ("make", "opname"),
    [
        (lambda x: [x + 1], "BUILD_LIST"),
        (lambda x: (x + 1, 1), "BUILD_TUPLE"),
        (lambda x: {"k": x + 1}, "BUILD_MAP"),
        (lambda x: (x + 1, slice(0, 2)), "BUILD_SLICE"),
        (lambda x: (x + 1, {x.dim()}), "BUILD_SET"),
    ],
)
def test_what_is_born_in_the_trace_is_built(make: Any, opname: str) -> None:
    assert opname in names(after_graph(written(make, X)))


def test_what_cannot_be_built_is_a_break() -> None:
    def f(x: Any) -> Any:
        return x + 1, (i for i in range(3))

    with pytest.raises(pydynamo.Unsupported) as caught:
        pydynamo.compile(f, backend="eager", fullgraph=True)(X)
    assert caught.value.reason in ("generator", "reconstruction-failure")


# two passes ----------------------------------------------------------------------------------------------------------
def test_a_value_that_is_used_once_gets_no_temp() -> None:
    def f(x: Any) -> Any:
        return [x + 1], [x * 2]

    assert not [v for name, v in written(f, X) if name == "STORE_FAST" and v != "graph_out_0"]


def test_a_long_way_to_a_source_that_is_used_twice_is_gone_once() -> None:
    class Box:
        pass

    box = Box()
    box.inner = Box()  # type: ignore[attr-defined]
    box.inner.rows = [1]  # type: ignore[attr-defined]

    def f(x: Any, box: Any) -> Any:
        return x + 1, box.inner.rows, 0, box.inner.rows

    code = after_graph(written(f, X, box))
    assert [value for name, value in code if name == "LOAD_ATTR"].count("rows") == 1
    assert any(name == "STORE_FAST" and value.startswith("tmp") for name, value in code)


def test_an_argument_that_is_used_twice_is_just_loaded_twice() -> None:
    def f(x: Any, rows: Any) -> Any:
        return x + 1, rows, 0, rows

    code = after_graph(written(f, X, [1]))
    assert code.count(("LOAD_FAST", "rows")) == 2
    assert not [v for name, v in code if name == "STORE_FAST" and v.startswith("tmp")]


# the suffix of a break -----------------------------------------------------------------------------------------------
def test_the_order_of_the_suffix_of_a_break() -> None:
    """New objects that escape, side effects, the instruction itself, the stack, live locals, hand-over."""

    def f(x: Any, log: Any, t: Any) -> Any:
        made = [x + 1]
        log.append(made)
        keep = x * 3
        print(end="")
        return made, keep, t

    code = after_graph(written(f, X, [], 5))
    flat = [f"{name} {value}" for name, value in code]
    built = names(code).index("BUILD_LIST")
    effect = next(i for i, part in enumerate(code) if part == ("LOAD_CONST", "replace_list"))
    dropped = code.index(("DELETE_FAST", "graph_out_0"))
    printed = next(i for i, (name, value) in enumerate(code) if value == "print")
    handed = code.index(("LOAD_CONST", "HandOver"))
    assert built < effect < printed < handed, flat
    assert effect < dropped < printed, flat
    passed = code[handed:]
    locals_at = [value for name, value in passed if name == "LOAD_FAST"]
    assert locals_at[0].startswith("result") and "t" in locals_at, flat
    assert names(passed)[-2:] == ["CALL", "RETURN_VALUE"]
