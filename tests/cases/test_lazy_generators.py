"""Generators run when they are asked, no sooner; they keep their state across breaks and after the call."""

import itertools  # noqa: F401

import torch
from harness import program


@program
def test_side_effects_come_as_items_are_asked_for():
    log = []

    def gen(x):
        for i in range(5):
            log.append(i)
            yield x + i

    def f(x):
        g = gen(x)
        log.append("made")
        a = next(g)
        log.append("one")
        return a + next(g)

    return f, [(torch.zeros(1),)] * 2


@program
def test_generator_is_returned_unstarted():
    log = []

    def gen(x):
        log.append("started")
        yield x * 2

    def f(x):
        return gen(x + 1)

    return f, [(torch.ones(1),)]


@program
def test_generator_is_returned_half_used():
    def gen(x):
        yield x
        got = yield x + 1
        yield got

    def f(x):
        g = gen(x)
        return next(g), g

    return f, [(torch.ones(1),)] * 2


@program
def test_generator_goes_across_a_break_and_takes_a_send():
    def gen():
        v = yield 1
        w = yield v
        yield (v, w)

    def f(x):
        it = gen()
        next(it)
        print("break")
        a = it.send(5)
        return x + 1, a, it.send(6)

    return f, [(torch.ones(1),)] * 2


@program
def test_generator_of_the_caller_is_advanced():
    def f(x, g):
        return x * next(g), next(g, "end")

    g = (k for k in range(1, 6))
    return f, [(torch.ones(1), g)] * 4


@program
def test_generator_of_the_caller_is_used_up():
    def f(x, g):
        for k in g:
            x = x + k
        return x

    g = iter([1, 2, 3])
    return f, [(torch.ones(1), g), (torch.ones(1), g)]


@program
def test_close_runs_finally():
    log = []

    def gen():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    def f(x):
        g = gen()
        a = next(g)
        g.close()
        log.append("after")
        return x * a, next(g, None)

    return f, [(torch.ones(1),)] * 2


@program
def test_throw_is_seen_inside():
    def gen():
        total = 0
        while True:
            try:
                total += yield total
            except ValueError as e:
                total = -int(e.args[0])

    def f(x, n):
        g = gen()
        next(g)
        a = g.send(n)
        b = g.throw(ValueError(n))
        return x, a, b, g.send(1)

    return f, [(torch.ones(1), 3), (torch.ones(1), 4)]


@program
def test_close_that_is_refused():
    def gen():
        try:
            yield 1
        except GeneratorExit:
            yield 2

    def f(x):
        g = gen()
        next(g)
        try:
            g.close()
        except RuntimeError as e:
            return x, str(e)
        return x, "closed"

    return f, [(torch.ones(1),)]


@program
def test_yield_from_hands_through_values_and_result():
    def inner(x):
        got = yield x
        return got * 2

    def outer(x):
        r = yield from inner(x)
        yield r

    def f(x):
        g = outer(x)
        a = next(g)
        return a, g.send(x + 1)

    return f, [(torch.ones(2),)] * 2


@program
def test_stop_iteration_carries_the_return_value():
    def gen(n):
        yield n
        return "done", n

    def f(x, n):
        g = gen(n)
        next(g)
        try:
            next(g)
        except StopIteration as e:
            return x, e.value, e.args

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_stop_iteration_inside_becomes_runtime_error():
    def gen(items):
        it = iter(items)
        while True:
            yield next(it)

    def f(x, items):
        try:
            return x, list(gen(items))
        except RuntimeError as e:
            return x, str(e), type(e.__cause__).__name__

    return f, [(torch.ones(1), [1, 2])]


@program
def test_list_grows_while_a_generator_walks_it():
    def f(x):
        todo = [x.sum()]

        def walk():
            for t in todo:
                if len(todo) < 4:
                    todo.append(t + 1)
                yield t

        return torch.stack(list(walk())).sum(), len(todo)

    return f, [(torch.ones(2),), (torch.ones(3),)]


@program
def test_generator_expression_sees_late_changes():
    def f(x, n):
        k = n
        items = [1, 2]
        g = (x * e * k for e in items)
        items.append(3)
        k = 10
        return list(g)

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_first_iterable_is_evaluated_at_once():
    log = []

    def source():
        log.append("source")
        return [1, 2]

    def f(x):
        g = (log.append(e) or e for e in source())
        log.append("made")
        return x, next(g)

    return f, [(torch.ones(1),)] * 2


@program
def test_any_and_all_stop_early():
    log = []

    def see(v):
        log.append(v)
        return v > 1

    def f(x, items):
        return x, any(see(e) for e in items), all(see(e) for e in items)

    return f, [(torch.ones(1), [1, 2, 3]), (torch.ones(1), [2, 1])]


@program
def test_zip_and_map_are_lazy():
    log = []

    def see(v):
        log.append(v)
        return v

    def f(x):
        m = map(see, [1, 2, 3])
        z = zip(m, "ab")
        log.append("made")
        a = next(z)
        return x, a, list(z)

    return f, [(torch.ones(1),)] * 2


@program
def test_break_in_a_for_leaves_the_rest():
    def f(x, n):
        g = iter(range(6))
        for k in g:
            if k == n:
                break
        return x, list(g)

    return f, [(torch.ones(1), 1), (torch.ones(1), 3)]


@program
def test_infinite_generator_is_cut():
    def naturals():
        n = 0
        while True:
            yield n
            n += 1

    def f(x, n):
        return (
            x,
            list(itertools.islice(naturals(), n)),
            next(itertools.dropwhile(lambda v: v < n, naturals())),
        )

    return f, [(torch.ones(1), 3), (torch.ones(1), 2), (torch.ones(1), 4)]


@program
def test_generator_in_an_object_keeps_its_place():
    class Source:
        def __init__(self):
            self.g = self._run()

        def _run(self):
            k = 0
            while True:
                k += 1
                yield k

    source = Source()

    def f(x):
        return x * next(source.g)

    return f, [(torch.ones(1),)] * 4


@program
def test_generator_holds_a_manager_open():
    log = []

    class Manager:
        def __enter__(self):
            log.append("in")

        def __exit__(self, *a):
            log.append("out")

    def gen(x):
        with Manager():
            yield x
            yield x + 1

    def f(x):
        g = gen(x)
        a = next(g)
        log.append("between")
        g.close()
        return a

    return f, [(torch.ones(1),)] * 2


@program
def test_grad_mode_in_a_generator():
    def gen(x):
        with torch.no_grad():
            yield (x * 2).requires_grad
        yield (x * 2).requires_grad

    def f(x):
        return list(gen(x)), torch.is_grad_enabled()

    return f, [(torch.ones(1, requires_grad=True),)]


@program
def test_print_inside_a_generator():
    def gen(x):
        for k in range(2):
            print("give", k)
            yield x + k

    def f(x):
        total = 0
        for v in gen(x):
            print("take")
            total = total + v
        return total

    return f, [(torch.ones(1),)] * 2


@program
def test_unpacking_takes_one_more_than_needed():
    log = []

    def gen():
        for k in range(5):
            log.append(k)
            yield k

    def f(x):
        try:
            a, b = gen()
        except ValueError as e:
            return x, str(e)

    return f, [(torch.ones(1),)]


@program
def test_generator_type_and_state():
    def gen():
        yield 1

    def f(x):
        g = gen()
        return x, type(g).__name__, iter(g) is g, hasattr(g, "send"), g.gi_running

    return f, [(torch.ones(1),)]


@program
def test_a_value_sent_too_early_leaves_the_generator_unstarted():
    def numbers():
        got = yield 1
        while got is not None:
            got = yield got * 2

    def f(x):
        g = numbers()
        said = []
        try:
            g.send(5)
        except TypeError as e:
            said.append(str(e))
        said += [next(g), g.send(3)]
        try:
            g.send(None)
        except StopIteration as e:
            said.append(e.value)
        return x + 1, said

    return f, [(torch.ones(2),)]
