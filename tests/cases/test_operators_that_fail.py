"""An operator that fails only when it runs on real data fails where eager fails: after what came before it, before the rest."""

import contextlib

import torch
from harness import program

SINGULAR = ((0.0, 0.0), (0.0, 0.0))
REGULAR = ((2.0, 0.0), (1.0, 2.0))

#: by name: the operator, and arguments with which it passes and fails
FAILING = {
    "inv": (torch.linalg.inv, (torch.tensor(REGULAR),), (torch.tensor(SINGULAR),)),
    "cholesky": (torch.linalg.cholesky, (torch.eye(2),), (-torch.eye(2),)),
    "solve": (
        torch.linalg.solve,
        (torch.tensor(REGULAR), torch.ones(2)),
        (torch.tensor(SINGULAR), torch.ones(2)),
    ),
    "eigh of nan": (torch.linalg.eigh, (torch.eye(2),), (torch.full((2, 2), float("nan")),)),
    "gather": (torch.gather, (torch.ones(3), 0, torch.tensor([1])), (torch.ones(3), 0, torch.tensor([9]))),
    "take": (torch.take, (torch.ones(3), torch.tensor([1])), (torch.ones(3), torch.tensor([9]))),
    "subscript": (lambda x, i: x[i], (torch.ones(3), torch.tensor([1])), (torch.ones(3), torch.tensor([9]))),
    "integer division": (
        lambda a, b: a // b,
        (torch.tensor([3, 4]), torch.tensor([1, 2])),
        (torch.tensor([3, 4]), torch.tensor([1, 0])),
    ),
    "integer remainder": (
        lambda a, b: a % b,
        (torch.tensor([3, 4]), torch.tensor([1, 2])),
        (torch.tensor([3, 4]), torch.tensor([1, 0])),
    ),
    "reflected remainder": (lambda a: 7 % a, (torch.tensor([3, 4]),), (torch.tensor([3, 0]),)),
    "one_hot": (torch.nn.functional.one_hot, (torch.tensor([0, 1]), 3), (torch.tensor([0, 5]), 3)),
    "embedding": (
        torch.nn.functional.embedding,
        (torch.tensor([0, 1]), torch.ones(2, 3)),
        (torch.tensor([0, 2]), torch.ones(2, 3)),
    ),
    "cross_entropy": (
        torch.nn.functional.cross_entropy,
        (torch.ones(2, 3), torch.tensor([0, 1])),
        (torch.ones(2, 3), torch.tensor([0, 7])),
    ),
    "binary_cross_entropy": (
        torch.nn.functional.binary_cross_entropy,
        (torch.tensor([0.5]), torch.tensor([1.0])),
        (torch.tensor([1.5]), torch.tensor([1.0])),
    ),
    "multinomial": (torch.multinomial, (torch.ones(3), 2), (-torch.ones(3), 2)),
    "bernoulli": (torch.bernoulli, (torch.full((3,), 0.5),), (torch.full((3,), 2.0),)),
}


def _calls(turn):
    """A third of the operators, each passing, failing, and passing again: few enough to be compiled all."""
    return [(name, fails) for name in list(FAILING)[turn % 3 :: 3] for fails in (False, True, False)]


def _fn(name):
    return FAILING[name][0]


def _args(name, fails):
    return [a.clone() if isinstance(a, torch.Tensor) else a for a in FAILING[name][2 if fails else 1]]


@program
def test_after_changes_of_every_sort():
    global_log = []

    class Holder:
        count = 0

    def f(name, args, table):
        y = args[0] * 1
        global_log.append(name)
        Holder.count += 1
        table[name] = table.get(name, 0) + 1
        z = _fn(name)(y, *args[1:])
        table["after"] = True
        return z

    return f, [(name, _args(name, fails), {}) for name, fails in _calls(0)]


@program
def test_in_a_try_block_with_all_its_parts():
    def f(name, args, log):
        y = args[0] * 1
        log.append("start")
        try:
            y = _fn(name)(y, *args[1:])
            log.append("passed")
        except (RuntimeError, IndexError, ZeroDivisionError) as error:
            log.append(type(error).__name__)
            y = args[0] - 1
        else:
            log.append("else")
        finally:
            log.append("finally")
        return y

    return f, [(name, _args(name, fails), []) for name, fails in _calls(1)]


@program
def test_in_a_handler_the_error_has_a_context():
    def f(name, args):
        try:
            raise KeyError(name)
        except KeyError:
            return _fn(name)(args[0] * 1, *args[1:])

    return f, [(name, _args(name, fails)) for name, fails in _calls(2)]


@program
def test_in_context_managers():
    class Keeps:
        def __init__(self, log):
            self.log = log

        def __enter__(self):
            self.log.append("in")

        def __exit__(self, kind, error, traceback):
            self.log.append(kind)
            return kind is IndexError

    @contextlib.contextmanager
    def notes(log):
        try:
            yield
        except RuntimeError:
            log.append("runtime error")
            raise
        finally:
            log.append("left")

    def f(name, args, log):
        with Keeps(log), notes(log), torch.no_grad():
            return _fn(name)(args[0] * 1, *args[1:])
        return "kept"

    return f, [(name, _args(name, fails), []) for name, fails in _calls(3)]


@program
def test_behind_a_break():
    def f(name, args, log):
        print("first", name)
        y = args[0] * 1
        log.append(y)
        try:
            y = _fn(name)(y, *args[1:])
            print("passed")
        finally:
            print("second", len(log))
        return y

    return f, [(name, _args(name, fails), []) for name, fails in _calls(4)]


@program
def test_in_an_inlined_function_and_a_generator():
    def parts(name, args, log):
        try:
            for step in range(2):
                log.append(step)
                yield _fn(name)(args[0] * 1, *args[1:])
        finally:
            log.append("closed")

    def f(name, args, log):
        out = []
        for part in parts(name, args, log):
            out.append(part)
        return out

    return f, [(name, _args(name, fails), []) for name, fails in _calls(5)]


@program
def test_after_an_input_has_changed():
    def f(name, args, other, log):
        other.add_(1)
        log.append(1)
        try:
            y = _fn(name)(args[0] * 1, *args[1:])
        except Exception as error:
            y = str(error)
        other[0] = 7
        return y, other * 2

    return f, [(name, _args(name, fails), torch.zeros(2), []) for name, fails in _calls(6)]


@program
def test_before_an_input_changes():
    def f(name, args, other, log):
        log.append(1)
        y = _fn(name)(args[0] * 1, *args[1:])
        other.data.mul_(3)
        return y, other * 2

    return f, [(name, _args(name, fails), torch.ones(2), []) for name, fails in _calls(7)]


@program
def test_around_random_numbers():
    def f(name, args, log):
        a = torch.rand(2)
        log.append(1)
        try:
            y = _fn(name)(args[0] * 1, *args[1:])
        except Exception as error:
            y = str(error)
        return a, y, torch.nn.functional.dropout(torch.ones(4))

    return f, [(name, _args(name, fails), []) for name, fails in _calls(8)]


@program
def test_batch_statistics_are_changed_once():
    def f(name, args, mean, var, log):
        y = torch.nn.functional.batch_norm(torch.arange(6.0).view(3, 2), mean, var, training=True)
        log.append(1)
        try:
            z = _fn(name)(args[0] * 1, *args[1:])
        except Exception:
            z = None
        return y, z

    return f, [(name, _args(name, fails), torch.zeros(2), torch.ones(2), []) for name, fails in _calls(9)]


@program
def test_in_grad_modes_that_the_function_switches():
    def f(name, args, w, log):
        with torch.no_grad():
            a = w * 2
            log.append(a.requires_grad)
            y = _fn(name)(args[0] * 1, *args[1:])
        return a, y, w * 3

    return f, [(name, _args(name, fails), torch.ones(2, requires_grad=True), []) for name, fails in _calls(10)]


@program
def test_stores_of_what_a_mask_does_not_fit():
    def f(x, mask, value, log):
        y = x * 1
        log.append("before")
        try:
            y[mask] = value
        except RuntimeError:
            log.append("no fit")
        return y

    def calls():
        x = torch.zeros(3)
        two, three = torch.tensor([True, True, False]), torch.tensor([True, True, True])
        return [(x, two, torch.ones(2), []), (x, three, torch.ones(2), []), (x, three, torch.ones(3), [])]

    return f, calls()


@program
def test_in_recursion():
    def f(x, i, depth, log):
        log.append(depth)
        if depth:
            x = f(x + 1, i, depth - 1, log)
        return torch.index_select(x, 0, i * depth) * 2

    return f, [(torch.arange(3.0), torch.tensor([i]), 2, []) for i in (0, 1, 2, 5)]


@program
def test_writing_to_a_tensor_that_overlaps_itself():
    def f(x, log):
        y = x.expand(3, -1)
        log.append(1)
        x.mul_(2)
        try:
            y.add_(1)
        except RuntimeError as e:
            log.append(str(e)[:30])
        log.append(2)
        y += 1
        log.append(3)

    return f, [(torch.zeros(5), []), (torch.zeros(4), [])]


@program
def test_whose_result_nobody_uses():
    def f(x, i, log):
        log.append(1)
        x[i]
        x[1:][i]
        x[[log[0], len(log)]]
        x.reshape(1, -1)[:, [log[0], 0]]
        log.append(2)
        return x + 1

    return f, [
        (torch.ones(n), torch.tensor([i]), [j][:j])
        for n, i, j in ((3, 1, 1), (3, 7, 0), (4, 0, 1), (4, 2, 3), (3, 0, 5))
    ]


@program
def test_for_sizes_that_data_decide():
    def f(x, y, log):
        log.append(1)
        kept = x[x > 0]
        y.add_(1)
        log.append(2)
        kept.reshape(-1, 2)
        log.append(3)
        return kept.reshape(2, -1) + y

    shapes = ((1, 1, -1, 1, 1), (1, 1, 1, -1), (1, -1, 1, -1, 1), (-1, -1, 1, 1, 1, 1, 1))
    return f, [(torch.tensor(signs, dtype=torch.float32), torch.zeros(1), []) for signs in shapes]


@program
def test_that_refuse_only_real_tensors():
    weight = torch.ones(3, 3)

    def f(x, counts, noisy, log):
        counts.add_(1)
        log.append("counted")
        noise = torch.rand(1) if noisy else 0
        log.append("drawn")
        y = torch.nn.functional.linear(x, weight) + noise
        counts[0] = 7
        log.append("multiplied")
        return y

    dtypes = (torch.float32, torch.bfloat16, torch.float64, torch.float32, torch.bfloat16)
    return f, [(torch.ones(2, 3, dtype=d), torch.zeros(2), n % 2 == 1, []) for d in dtypes for n in range(2)]


@program
def test_slices_of_what_is_no_number():
    def f(x, n):
        seen = []
        for cut in (lambda: [1, 2][:n], lambda: (1, 2)[n:], lambda: "ab"[::n], lambda: x[:n]):
            try:
                seen.append(cut())
            except (TypeError, ValueError) as e:
                seen.append((type(e).__name__, str(e)))
        return x * 2, seen

    return f, [(torch.ones(2), n) for n in ("a", 1.5, 1, None, 0)]
