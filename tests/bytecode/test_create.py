"""The `create_*` family, by running what it makes."""

import sys

import pytest

from pydynamo import bytecode as b
from tests.bytecode.building import function

RETURN = "RETURN_VALUE"


def load(name):
    return b.create_instruction("LOAD_FAST", argval=name)


def ret():
    return b.create_instruction(RETURN)


def result(*insts, args=(1, 2, 3)):
    return function([*insts, ret()])(*args)


def test_load_const():
    for value in (None, True, 5, 10**20, "x", (1, ("a", b"b")), ..., frozenset({1}), 1.5, int):
        assert result(b.create_load_const(value)) is value or result(b.create_load_const(value)) == value


def test_mutable_constants_need_checked_false():
    for value in ([], {}, set(), bytearray(), ([],), object()):
        with pytest.raises(TypeError, match="checked=False"):
            b.create_load_const(value)
    shared = []
    assert result(b.create_load_const(shared, checked=False)) is shared


def test_stack_moves():
    top_three = [load("a"), load("b"), load("c")]
    tuple3 = b.create_build_tuple(3)
    assert result(*top_three, tuple3) == (1, 2, 3)
    fresh = lambda: [load("a"), load("b"), load("c")]
    assert result(*fresh(), *b.create_swap(3), b.create_build_tuple(3)) == (3, 2, 1)
    assert result(*fresh(), *b.create_rot_n(3), b.create_build_tuple(3)) == (3, 1, 2)
    assert b.create_rot_n(1) == [] and b.create_rot_n(0) == []
    assert result(*fresh(), *b.create_copy(3), b.create_build_tuple(4)) == (1, 2, 3, 1)
    assert result(*fresh(), b.create_dup_top(), b.create_build_tuple(4)) == (1, 2, 3, 3)
    assert result(b.create_build_tuple(0)) == ()


def test_calls_with_the_null_pushed_before():
    for nargs in range(4):
        insts = b.add_push_null(load("a"))
        insts += [b.create_load_const(i) for i in range(nargs)]
        assert result(*insts, *b.create_call_function(nargs, False), args=(lambda *xs: xs,)) == tuple(range(nargs))


def test_calls_with_the_null_pushed_late():
    for nargs in range(4):
        insts = [load("a"), *(b.create_load_const(i) for i in range(nargs))]
        assert result(*insts, *b.create_call_function(nargs, True), args=(lambda *xs: xs,)) == tuple(range(nargs))


def test_push_null_uses_flag_bits_where_there_are_some():
    name = b.create_instruction("LOAD_GLOBAL", argval="len")
    insts = b.add_push_null(name)
    assert len(insts) == 1 and name.arg & 1
    assert result(*insts, b.create_load_const("four"), *b.create_call_function(1, False)) == 4
    again = b.add_push_null(b.create_instruction("LOAD_GLOBAL", arg=1, argval="len"))
    assert len(again) == 2
    attribute = [load("a"), b.create_instruction("LOAD_ATTR", argval="upper")]
    insts = b.add_push_null(attribute)
    assert result(*insts, *b.create_call_function(0, False), args=("x",)) == "X"
    with pytest.raises(ValueError):
        b.add_push_null([])


@pytest.mark.parametrize("push_null", [True, False])
@pytest.mark.parametrize("has_kwargs", [True, False])
def test_call_function_ex(has_kwargs, push_null):
    callee = lambda *args, **kwargs: (args, kwargs)
    insts = [load("a")] if push_null else b.add_push_null_call_function_ex(load("a"))
    insts.append(load("b"))
    if has_kwargs:
        # The verifier wants to see where the dict comes from: CPython does not check.
        merge = b.create_instruction("DICT_UPDATE", arg=1)
        insts += [b.create_instruction("BUILD_MAP", arg=0), load("c"), merge]
    insts += b.create_call_function_ex(has_kwargs, push_null)
    assert result(*insts, args=(callee, (1, 2), {"k": 3})) == ((1, 2), {"k": 3} if has_kwargs else {})


def test_push_null_for_call_function_ex_leaves_attributes_alone():
    insts = b.add_push_null_call_function_ex([load("a"), b.create_instruction("LOAD_ATTR", argval="join")])
    assert len(insts) == 3
    insts += [load("b"), *b.create_call_function_ex(False, False)]
    assert result(*insts, args=("-", (["x", "y"],))) == "x-y"
    name = b.create_instruction("LOAD_GLOBAL", argval="max")
    assert len(b.add_push_null_call_function_ex(name)) == 1
    with pytest.raises(ValueError):
        b.add_push_null_call_function_ex([])


def test_methods():
    insts = [load("a"), b.create_load_method("split"), b.create_load_const(","), *b.create_call_method(1)]
    assert result(*insts, args=("x,y",)) == ["x", "y"]


def test_subscripts_and_slices():
    assert result(load("a"), load("b"), b.create_binary_subscr(), args=("xyz", 1)) == "y"
    assert result(load("a"), *b.create_binary_slice(1, None), args=("xyz",)) == "yz"
    target = [1, 2, 3, 4]
    result(load("b"), load("a"), *b.create_binary_slice(1, 3, store=True), load("a"), args=(target, "xy"))
    assert target == [1, "x", "y", 4]


def test_jumps_in_both_directions():
    end = load("b")
    assert result(b.create_jump_absolute(end), b.create_instruction("NOP"), end) == 2
    top, exit_ = b.create_instruction("NOP"), load("b")
    insts = [b.create_jump_absolute(top), exit_, ret(), top, b.create_jump_absolute(exit_)]
    assert function(insts)(1, 2, 3) == 2


def test_printing(capsys):
    assert result(load("a"), load("b"), *b.create_print_on_stack(1), b.create_build_tuple(2)) == (1, 2)
    result(*b.create_print_value("text"), load("a"))
    assert capsys.readouterr().out == "1\ntext\n"


def test_breakpoints_call_the_hook():
    hits = []
    assert result(*b.create_breakpoint(lambda: hits.append(1)), load("a")) == 1
    assert hits == [1]


def test_setup_with_where_there_is_one():
    if sys.version_info >= (3, 14):
        with pytest.raises(b.BytecodeError):
            b.create_setup_with(ret())
    else:
        assert b.create_setup_with(ret()).opname == "BEFORE_WITH"


@pytest.mark.parametrize("symbol", ["<", "<=", "==", "!=", ">", ">="])
def test_comparisons_by_symbol(symbol):
    compare = b.create_instruction("COMPARE_OP", argval=symbol)
    run = function([load("a"), load("b"), compare, ret()])
    for left in (1, 2, 3, 1.5, float("nan"), "x"):
        for right in (1, 2, 1.5, float("nan")) if left != "x" else ("x", "y"):
            for _ in range(3):
                assert run(left, right) == eval(f"left {symbol} right", {}, {"left": left, "right": right})


def test_create_instruction_takes_one_operand():
    with pytest.raises(ValueError):
        b.create_instruction("LOAD_CONST", arg=0, argval=1)
    with pytest.raises(ValueError):
        b.create_instruction("LOAD_GLOBAL", argval="x", target=ret())
    with pytest.raises(TypeError):
        b.create_instruction("LOAD_CONST", arg="x")
    with pytest.raises(TypeError):
        b.create_instruction(5)


def test_super_attributes_are_explicit():
    if sys.version_info < (3, 12):
        pytest.skip("no LOAD_SUPER_ATTR")

    class Base:
        def who(self):
            return "base"

    class Derived(Base):
        def who(self):
            return "derived"

    insts = [
        b.create_instruction("LOAD_GLOBAL", argval="super"),
        load("a"),
        load("b"),
        b.create_instruction("LOAD_SUPER_ATTR", argval="who"),
        *b.create_call_function(0, True),
    ]
    assert result(*insts, args=(Derived, Derived())) == "base"


def test_super_is_given_arguments_only_where_it_has_some():
    class Base:
        def who(self):
            return "base"

    class Derived(Base):
        def with_self(self):
            return super().who()

        def with_stars(*args):
            return super().who()

    for method, outcome in ((Derived.with_self, "base"), (Derived.with_stars, "super(): no arguments")):
        insts = b.cleaned_instructions(method.__code__)
        b.explicit_super(method.__code__, insts)

        def transform(instructions, options, insts=insts):
            instructions[:] = insts

        code = b.transform_code_object(method.__code__, transform)
        try:
            assert method.__class__(code, globals(), None, None, method.__closure__)(Derived()) == outcome
        except RuntimeError as error:
            assert str(error) == outcome  # noqa: PT017
