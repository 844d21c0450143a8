"""Grad modes that come into a function as objects: they remember, on the object itself, what they go back to."""

from typing import Any

import torch
from harness import program


def mode(x: Any) -> Any:
    return x.requires_grad, torch.is_grad_enabled()


def inputs(*makers: Any) -> list[tuple[Any, ...]]:
    return [(torch.ones(2, requires_grad=True), *(make() for make in makers)) for _ in range(2)]


def off() -> Any:
    with torch.enable_grad():
        made = torch.set_grad_enabled(False)
    return made


@program
def test_break_inside():
    def f(x, manager):
        with manager:
            y = x * 2
            print(end="")
            y = y * 3
        return y, mode(y), mode(x * 2), manager.prev

    return f, inputs(torch.no_grad)


@program
def test_entered_without_a_break():
    def f(x, manager):
        with manager:
            y = x * 2
        return y, mode(y), mode(x * 2), manager.prev

    return f, inputs(torch.enable_grad)


@program
def test_one_inside_the_other_with_a_break():
    def f(x, outer, inner):
        with outer:
            with inner:
                print(end="")
                y = x * 2
            z = x * 2
        return mode(y), mode(z), mode(x * 2)

    return f, inputs(torch.no_grad, torch.enable_grad)


@program
def test_the_same_twice():
    def f(x, manager):
        with manager:
            with manager:
                y = x * 2
                print(end="")
        return mode(y), mode(x * 2), manager.prev

    return f, inputs(torch.no_grad)


@program
def test_an_exception_after_a_break_inside():
    def f(x, manager):
        try:
            with manager:
                print(end="")
                raise ValueError(x.requires_grad)
        except ValueError as e:
            return str(e), mode(x * 2)

    return f, inputs(torch.no_grad)


@program
def test_entered_and_left_by_hand_around_a_break():
    def f(x, manager):
        manager.__enter__()
        y = x * 2
        print(end="")
        manager.__exit__(None, None, None)
        return mode(y), mode(x * 2)

    return f, inputs(torch.no_grad)


@program
def test_held_by_an_object():
    class Holder:
        manager = torch.no_grad()

    def f(x, holder):
        with holder.manager:
            print(end="")
            y = x * 2
        return mode(y), mode(x * 2), holder.manager.prev

    return f, inputs(Holder)


@program
def test_made_before_a_break_and_entered_with_another_inside():
    def f(x):
        manager = torch.no_grad()
        print(end="")
        with manager:
            print(end="")
        return mode(x * 2)

    return f, inputs()


@program
def test_set_grad_enabled_goes_back_to_what_was_when_it_was_made():
    def f(x, manager):
        with manager:
            print(end="")
            y = x * 2
        return mode(y), mode(x * 2), manager.prev, manager.mode

    return f, inputs(off)
