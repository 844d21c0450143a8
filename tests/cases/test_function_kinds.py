"""What inspect tells of functions, and what contextlib asks it."""

import contextlib
import functools
import inspect

import torch
from harness import program


@program
def test_kinds_of_functions():
    def generator():
        yield 1

    async def coroutine():
        pass

    async def async_generator():
        yield 1

    def plain():
        pass

    class Holder:
        def method(self):
            yield 1

        async def other(self):
            pass

    asked = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    known = (generator, coroutine, async_generator, plain, Holder, Holder.method, Holder().method, Holder().other)

    def f(x):
        def made_inside():
            yield x

        return x + 1, [[ask(of) for ask in asked] for of in (*known, made_inside)]

    return f, [(torch.ones(2),)] * 2


@program
def test_kinds_of_what_is_no_plain_function():
    def generator(n):
        yield n

    def f(x, of):
        return x + 1, inspect.isgeneratorfunction(of), inspect.iscoroutinefunction(of)

    return f, [(torch.ones(2), functools.partial(generator, 1)), (torch.ones(2), 3), (torch.ones(2), len)]


@program
def test_decorators_made_of_context_managers():
    log = []

    @contextlib.contextmanager
    def scope(name):
        log.append(name)
        yield name
        log.append("over")

    def f(x):
        @scope("inner")
        def add(y):
            return y + 1

        @scope("numbers")
        def numbers(y):
            yield y
            yield y + 1

        return add(x), list(numbers(x)), list(log)

    return f, [(torch.ones(2),)] * 2


@program
def test_stacks_of_many_kinds_of_managers():
    log = []

    class Manager:
        def __enter__(self):
            log.append("enter")
            return self

        def __exit__(self, *about):
            log.append(about[0])
            return True

    class Without:
        pass

    def f(x, fails):
        with contextlib.ExitStack() as stack:
            stack.enter_context(Manager())
            stack.enter_context(torch.no_grad())
            stack.enter_context(contextlib.suppress(KeyError))
            stack.push(Manager())
            try:
                stack.enter_context(Without())
            except TypeError as error:
                log.append(str(error))
            x = x * 2
            if fails:
                raise ValueError
        return x + 1, list(log)

    return f, [(torch.ones(2), False), (torch.ones(2), True)]
