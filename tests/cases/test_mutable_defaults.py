"""Default values are objects: they live between calls, can be changed, replaced and shared."""

import functools  # noqa: F401

import torch
from harness import program


@program
def test_list_default_grows():
    def h(v, acc=[]):
        acc.append(v)
        return acc

    def f(x):
        return x + 1, list(h(1)), len(h(2))

    return f, [(torch.ones(1),)] * 3


@program
def test_dict_default_counts():
    def h(key, seen={}):
        seen[key] = seen.get(key, 0) + 1
        return seen[key]

    def f(x, key):
        return x * h(key)

    return f, [(torch.ones(2), "a"), (torch.ones(2), "b"), (torch.ones(2), "a"), (torch.ones(2), "a")]


@program
def test_set_default_remembers():
    def first_time(v, known=set()):
        new = v not in known
        known.add(v)
        return new

    def f(x, n):
        return x * 2 if first_time(n) else x * 3

    return f, [(torch.ones(1), 1), (torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 2)]


@program
def test_default_is_returned_and_changed_by_the_caller():
    def h(v, acc=[0]):
        acc.append(v)
        return acc

    def f(x, n):
        return x, h(n)

    def grown(result):
        result[1].append("outside")
        return torch.ones(1), 2

    return f, [(torch.ones(1), 1), grown, grown]


@program
def test_keyword_only_default():
    def h(x, *, log=[]):
        log.append(x.shape[0])
        return x * len(log)

    def f(x):
        return h(x) + h(x)

    return f, [(torch.ones(2),), (torch.ones(3),), (torch.ones(2),)]


@program
def test_default_of_the_compiled_function_itself():
    def f(x, acc=[]):
        acc.append(len(acc))
        return x + len(acc)

    return f, [(torch.ones(1),), (torch.ones(1),), (torch.ones(1), [7, 7])]


@program
def test_defaults_are_replaced_between_calls():
    def h(x, k=1):
        return x * k

    def f(x):
        return h(x)

    def other(_):
        h.__defaults__ = (5,)
        return (torch.ones(2),)

    def gone(_):
        h.__defaults__ = None
        return (torch.ones(2),)

    return f, [(torch.ones(2),), other, gone]


@program
def test_keyword_defaults_are_replaced_inside():
    def h(x, *, k=1):
        return x * k

    def f(x, n):
        a = h(x)
        h.__kwdefaults__ = {"k": n}
        return a, h(x)

    return f, [(torch.ones(1), 2), (torch.ones(1), 3), (torch.ones(1), 3)]


@program
def test_default_evaluated_once_at_definition():
    n = [1]

    def f(x):
        def h(v, k=n[0]):
            return v * k

        n[0] += 1
        return h(x), h(x)

    return f, [(torch.ones(1),)] * 3


@program
def test_tensor_default_is_changed_in_place():
    def h(x, total=torch.zeros(1)):
        total += x.sum()
        return total

    def f(x):
        return h(x) * 1

    return f, [(torch.ones(2),)] * 3


@program
def test_lambda_default_is_late_or_early():
    def f(x, n):
        early = [lambda v, k=k: v * k for k in range(n)]
        late = [lambda v: v * k for k in range(n)]
        return [g(x) for g in early], [g(x) for g in late]

    return f, [(torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_two_functions_of_one_code_differ_in_defaults():
    def make(k):
        def shift(x, by=k):
            return x + by

        return shift

    def f(fn, x):
        return fn(x) * 2

    return f, [(make(1), torch.zeros(2)), (make(5), torch.zeros(2)), (make(9), torch.zeros(2))]


@program
def test_method_default_is_shared_by_instances():
    class Box:
        def put(self, v, into=[]):
            into.append(v)
            return len(into)

    def f(x):
        return x * Box().put(1) + Box().put(2)

    return f, [(torch.ones(1),)] * 2


@program
def test_default_list_bound_by_a_partial():
    def h(x, acc=[]):
        acc.append(1)
        return x * len(acc)

    p = functools.partial(h, acc=[5])

    def f(x):
        return p(x), h(x)

    return f, [(torch.ones(1),)] * 3


@program
def test_default_none_pattern():
    def h(x, acc=None):
        acc = [] if acc is None else acc
        acc.append(x.sum())
        return acc

    def f(x, acc):
        return len(h(x)), len(h(x, acc))

    shared = []
    return f, [(torch.ones(1), shared)] * 3


@program
def test_nested_default_holds_a_dict_of_lists():
    def note(kind, v, book={"a": []}):
        book.setdefault(kind, []).append(v)
        return {k: list(v) for k, v in book.items()}

    def f(x, kind):
        return x + 1, note(kind, x.shape[0])

    return f, [(torch.ones(1), "a"), (torch.ones(2), "b"), (torch.ones(2), "b")]
