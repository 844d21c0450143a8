"""Exceptions are raised, caught, chained, kept and re-raised as eager does, with the state that eager leaves."""

import torch
from harness import program


@program
def test_data_error_is_catchable():
    def f(x, i):
        try:
            return torch.index_select(x, 0, i) + 1
        except (IndexError, RuntimeError):
            return x.sum() + 2

    return f, [
        (torch.arange(3.0), torch.tensor([1])),
        (torch.arange(3.0), torch.tensor([7])),
        (torch.arange(3.0), torch.tensor([2])),
    ]


@program
def test_data_error_after_side_effects():
    log = []

    def f(x, i):
        log.append("start")
        y = x + 1
        try:
            z = y[i]
            log.append("read")
        except IndexError:
            log.append("bad")
            z = y
        finally:
            log.append("end")
        return z

    return f, [(torch.arange(3.0), torch.tensor([1])), (torch.arange(3.0), torch.tensor([7]))]


@program
def test_data_error_leaves_the_state_of_that_moment():
    log = []

    def f(x, i):
        x.add_(1)
        log.append("before")
        y = torch.gather(x, 0, i)
        log.append("after")
        x.add_(1)
        return y

    return f, [
        (torch.arange(3.0), torch.tensor([1])),
        (torch.arange(3.0), torch.tensor([9])),
        (torch.arange(3.0), torch.tensor([0])),
    ]


@program
def test_shape_error_is_catchable():
    def f(x, y):
        try:
            return x + y
        except RuntimeError as e:
            return type(e).__name__, "size of tensor" in str(e)

    return f, [(torch.ones(3), torch.ones(3)), (torch.ones(3), torch.ones(2)), (torch.ones(3), torch.ones(1))]


@program
def test_shape_error_escapes():
    def f(x, y):
        return (x * 2) @ y

    return f, [(torch.ones(2, 3), torch.ones(3)), (torch.ones(2, 3), torch.ones(2))]


@program
def test_wrong_operand_types():
    def f(x, v):
        try:
            r = v + 1
        except TypeError as e:
            r = str(e)
        return x + 1, r

    return f, [(torch.ones(1), [1]), (torch.ones(1), 2), (torch.ones(1), "a"), (torch.ones(1), None)]


@program
def test_all_sorts_of_type_errors():
    def f(x, v):
        out = []
        for make in (
            lambda: v + [1],
            lambda: v - 1,
            lambda: v < 3,
            lambda: v[0],
            lambda: v(),
            lambda: len(v),
            lambda: iter(v),
            lambda: -v,
            lambda: v @ v,
            lambda: v.nope,
            lambda: 1 in v,
            lambda: {v},
            lambda: abs(v),
            lambda: int(v),
            lambda: sorted(v),
            lambda: v % 2,
            lambda: v * v,
            lambda: [*v],
            lambda: {**v},
            lambda: range(v),
            lambda: sum(v),
            lambda: max(v),
            lambda: v >= v,
            lambda: "" + v,
            lambda: isinstance(1, v),
        ):
            try:
                r = make()
                out.append(r if isinstance(r, (int, str, list)) else type(r).__name__)
            except Exception as e:
                out.append((type(e).__name__, str(e)))
        return x + 1, out

    return f, [
        (torch.ones(1), 2),
        (torch.ones(1), "ab"),
        (torch.ones(1), [1, 2]),
        (torch.ones(1), None),
        (torch.ones(1), {"a": 1}),
        (torch.ones(1), (1,)),
    ]


@program
def test_lookup_errors():
    def f(x, d, items, k):
        out = []
        for make in (
            lambda: d[k],
            lambda: items[k],
            lambda: d.pop(k),
            lambda: items.index(k),
            lambda: items.pop(9),
            lambda: next(iter([])),
            lambda: [].pop(),
            lambda: {}.popitem(),
            lambda: items.remove("q"),
            lambda: set().pop(),
            lambda: (1,)[4],
            lambda: "a"[4],
            lambda: max([]),
        ):
            try:
                out.append(make())
            except Exception as e:
                out.append((type(e).__name__, e.args))
        return x, out

    return f, [
        (torch.ones(1), {"a": 1}, [1, 2], "a"),
        (torch.ones(1), {}, [1], 0),
        (torch.ones(1), {1: 2}, [], 1),
    ]


@program
def test_reraise_and_finally_order():
    log = []

    def inner(n):
        try:
            log.append("try")
            return 10 // n
        except ZeroDivisionError:
            log.append("except")
            raise
        else:
            log.append("else")
        finally:
            log.append("finally")

    def f(x, n):
        try:
            return x * inner(n)
        except ArithmeticError:
            log.append("outer")
            return x

    return f, [(torch.ones(1), 2), (torch.ones(1), 0)]


@program
def test_finally_swallows_and_overrides():
    def a(n):
        try:
            return 1 // n
        finally:
            return "over"  # noqa: B012

    def b(n):
        for k in range(3):
            try:
                if k == n:
                    raise ValueError
            except ValueError:
                continue
            finally:
                if k == 2:
                    break
        return k

    def f(x, n):
        return x, a(n), b(n)

    return f, [(torch.ones(1), 0), (torch.ones(1), 1)]


@program
def test_name_is_gone_after_except():
    def f(x):
        e = 1
        try:
            raise ValueError("v")
        except ValueError as e:
            s = str(e)
        try:
            return e
        except UnboundLocalError as err:
            return x, s, str(err)

    return f, [(torch.ones(1),)]


@program
def test_raised_class_instance_and_wrong_thing():
    def f(x, what):
        try:
            raise what
        except (ValueError, KeyError) as e:
            return x, type(e).__name__, e.args
        except TypeError as e:
            return str(e)

    return f, [(torch.ones(1), ValueError), (torch.ones(1), KeyError("k")), (torch.ones(1), 5)]


@program
def test_same_instance_raised_twice():
    error = ValueError("once")

    def f(x):
        caught = []
        for _ in range(2):
            try:
                raise error
            except ValueError as e:
                caught.append(e is error)
        return x, caught

    return f, [(torch.ones(1),)]


@program
def test_assertions():
    def f(x, n):
        try:
            assert n > 1, ("too small", n)
            assert n < 5
        except AssertionError as e:
            return x, e.args
        return x * n

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 7)]


@program
def test_escaping_exception_after_mutations():
    class State:
        n = 0

    log = []

    def f(x, items, n):
        items.append(n)
        State.n += 1
        log.append(x.shape[0])
        x.mul_(2)
        if n > 1:
            raise RuntimeError("stop", n, items)
        log.append("end")
        return x

    return f, [(torch.ones(2), [], 1), (torch.ones(2), [], 2), (torch.ones(2), [0], 3)]


@program
def test_exception_hierarchy_and_tuple_of_classes():
    kinds = (KeyError, ZeroDivisionError)

    def f(x, n):
        try:
            if n == 0:
                raise KeyError
            if n == 1:
                1 / 0
            if n == 2:
                raise NotImplementedError("later")
            if n == 3:
                raise StopIteration(4)
        except kinds as e:
            return "kinds", type(e).__name__
        except RuntimeError as e:
            return "runtime", type(e).__name__
        except Exception as e:
            return "any", e.args

    return f, [(torch.ones(1), 0), (torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_unbound_and_undefined_names():
    def f(x, flag):
        out = []
        if flag:
            value = 1
        try:
            out.append(value)
        except UnboundLocalError as e:
            out.append(str(e))
        try:
            out.append(not_there)  # noqa: F821
        except NameError as e:
            out.append((str(e), e.name))
        return x, out

    return f, [(torch.ones(1), True), (torch.ones(1), False)]


@program
def test_attribute_error_from_property_and_getattr():
    class C:
        @property
        def p(self):
            return self.missing

        def __getattr__(self, name):
            return f"made {name}"

    class D:
        @property
        def p(self):
            raise AttributeError("inner")

    def f(x):
        return x, C().p, C().other, hasattr(D(), "p"), getattr(D(), "p", "default")

    return f, [(torch.ones(1),)]


@program
def test_stop_iteration_from_next():
    def f(x, items):
        it = iter(items)
        out = []
        while True:
            try:
                out.append(next(it))
            except StopIteration as e:
                return x, out, e.value

    return f, [(torch.ones(1), [1, 2]), (torch.ones(1), [])]


@program
def test_recursion_error_is_catchable():
    def deep(n):
        return deep(n + 1) + 1

    def f(x):
        try:
            deep(0)
        except RecursionError as e:
            return x + 1, type(e).__name__

    return f, [(torch.ones(1),)]


@program
def test_a_captured_name_that_is_deleted_behind_a_break():
    def f(x, m, remove):
        def read():
            return m

        y = x + 1
        print("first")
        kept = read()
        if remove:
            del m
        print("second")
        y = y * 2
        print(y.sum().item())
        return y, kept, m

    return f, [(torch.ones(2), 3, False), (torch.ones(2), 3, True), (torch.ones(2), 4, True)]


@program
def test_a_captured_name_of_a_handler_is_gone_behind_it():
    def f(x, fails):
        try:
            print("in")
            y = x + 1
            if fails:
                raise ValueError(7)
        except ValueError as error:
            print("caught")
            text = (lambda: str(error))()
        else:
            text = "none"
        print(text)
        try:
            return y * 2, error
        except NameError as gone:
            return y, type(gone).__name__, str(gone)

    return f, [(torch.ones(2), False), (torch.ones(2), True)]


@program
def test_code_that_no_assembler_reads():
    def inner(x):
        return x + 1

    inner.__code__ = inner.__code__.replace(co_linetable=b"")

    def f(x):
        return inner(x * 2) + 1

    return f, [(torch.ones(1),), (torch.ones(2),)]
