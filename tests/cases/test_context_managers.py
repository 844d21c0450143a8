"""`with`: entering and leaving in order, across breaks and exceptions, and modes left as eager leaves them."""

import contextlib

import torch
from harness import program


@program
def test_manager_object_is_made_before_a_break():
    def f(x):
        ctx = torch.no_grad()
        y = x * 2
        print(end="")
        with ctx:
            z = y * 3
        return z, y, z.requires_grad, y.requires_grad, torch.is_grad_enabled()

    return f, [(torch.ones(2, requires_grad=True),)] * 2


@program
def test_break_inside_no_grad():
    def f(x):
        with torch.no_grad():
            y = x * 2
            print("inside", torch.is_grad_enabled())
            z = y + x
        return z, x * z

    return f, [(torch.ones(2, requires_grad=True),)] * 2


@program
def test_nested_grad_modes():
    def f(x, on):
        seen = []
        with torch.no_grad():
            with torch.enable_grad():
                seen.append((x * 2).requires_grad)
                with torch.set_grad_enabled(on):
                    seen.append((x * 2).requires_grad)
                seen.append(torch.is_grad_enabled())
            seen.append((x * 2).requires_grad)
        return seen, torch.is_grad_enabled()

    return f, [(torch.ones(1, requires_grad=True), True), (torch.ones(1, requires_grad=True), False)]


@program
def test_exception_leaves_the_mode():
    def f(x, n):
        try:
            with torch.no_grad():
                y = x * 2
                if n > 1:
                    raise ValueError(n)
        except ValueError:
            y = x * 3
        return y, y.requires_grad

    return f, [(torch.ones(1, requires_grad=True), 1), (torch.ones(1, requires_grad=True), 2)]


@program
def test_exception_escapes_out_of_no_grad():
    def f(x, n):
        with torch.no_grad():
            y = x * n
            if n == 2:
                raise KeyError(n)
        return y

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_mode_set_without_a_block():
    def f(x):
        torch.set_grad_enabled(False)
        y = x * 2
        torch.set_grad_enabled(True)
        return y, x * 2

    return f, [(torch.ones(1, requires_grad=True),)]


@program
def test_mode_stays_set_after_the_call():
    def f(x, on):
        torch._C._set_grad_enabled(on)
        return x * 2

    return f, [(torch.ones(1, requires_grad=True), False), (torch.ones(1, requires_grad=True), True)]


@program
def test_mode_of_the_caller_is_used():
    def f(x):
        return x * 2, torch.is_grad_enabled()

    def both(x):
        with torch.no_grad():
            a = f(x)
        return a, f(x)

    return both, [(torch.ones(1, requires_grad=True),)] * 2


@program
def test_own_manager_logs():
    log = []

    class Manager:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append(f"+{self.name}")
            return self

        def __exit__(self, kind, value, tb):
            log.append((f"-{self.name}", kind.__name__ if kind else None, str(value)))
            return kind is KeyError

    def f(x, n):
        with Manager("a") as a, Manager("b"):
            log.append(a.name)
            if n == 1:
                raise KeyError("swallowed")
            if n == 2:
                raise ValueError("not")
            x = x + 1
        return x

    return f, [(torch.ones(1), 0), (torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_return_break_and_continue_leave_managers():
    log = []

    class Manager:
        def __enter__(self):
            log.append("+")

        def __exit__(self, *a):
            log.append("-")

    def f(x, n):
        for k in range(4):
            with Manager():
                if k == n:
                    continue
                if k == n + 1:
                    break
                if n == 3 and k == 2:
                    return x, "returned"
                log.append(k)
        return x, k

    return f, [(torch.ones(1), 0), (torch.ones(1), 1), (torch.ones(1), 3)]


@program
def test_generator_manager():
    state = {"depth": 0}
    trail = []

    @contextlib.contextmanager
    def deeper(by=1):
        state["depth"] += by
        try:
            yield state["depth"]
        finally:
            trail.append(state["depth"])
            state["depth"] -= by

    def f(x):
        with deeper() as d, deeper(2) as e:
            y = x + d + 10 * e
        return y + state["depth"]

    return f, [(torch.zeros(1),)] * 2


@program
def test_generator_manager_with_exceptions():
    log = []

    @contextlib.contextmanager
    def guard(swallow):
        try:
            yield
        except ValueError as e:
            log.append(e.args)
            if not swallow:
                raise KeyError("other") from e
        else:
            log.append("fine")

    def f(x, n):
        try:
            with guard(n < 2):
                if n:
                    raise ValueError(n)
            return x, "after"
        except KeyError as e:
            return x, type(e.__cause__).__name__

    return f, [(torch.ones(1), 0), (torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_generator_manager_across_a_break():
    log = []

    @contextlib.contextmanager
    def scope(name):
        log.append(f"+{name}")
        yield name * 2
        log.append(f"-{name}")

    def f(x):
        with scope("a") as a:
            y = x + 1
            print(a)
            y = y * 2
        return y, list(log)

    return f, [(torch.ones(1),)] * 2


@program
def test_manager_as_decorator():
    @torch.no_grad()
    def quiet(x):
        return (x * 2).requires_grad

    @contextlib.contextmanager
    def nothing():
        yield

    @nothing()
    def plain(x):
        return x + 1

    def f(x):
        return quiet(x), plain(x), torch.is_grad_enabled()

    return f, [(torch.ones(1, requires_grad=True),)] * 2


@program
def test_exit_stack_and_friends():
    log = []

    def f(x, n):
        with contextlib.ExitStack() as stack:
            stack.callback(log.append, n)
            stack.enter_context(torch.no_grad())
            v = stack.enter_context(contextlib.nullcontext(n + 1))
            y = x * v
            g = torch.is_grad_enabled()
        with contextlib.suppress(ZeroDivisionError, KeyError):
            log.append("in")
            1 // (n - 1)
            log.append("not for 1")
        return y, g, list(log)

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_autocast_inside():
    def f(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x
            inside = torch.is_autocast_enabled("cpu")
        return y, y.dtype, inside, torch.is_autocast_enabled("cpu"), x @ x

    return f, [(torch.ones(2, 2),)] * 2


@program
def test_inference_mode_inside():
    def f(x):
        with torch.inference_mode():
            y = x * 2
        return y.is_inference(), y.requires_grad, torch.is_inference_mode_enabled(), x * 3

    return f, [(torch.ones(1, requires_grad=True),)]


@program
def test_manager_with_state_per_call():
    class Timer:
        total = 0

        def __enter__(self):
            Timer.total += 1
            self.n = Timer.total
            return self.n

        def __exit__(self, *a):
            Timer.total += 10

    timer = Timer()

    def f(x):
        with timer as n:
            y = x * n
        return y, timer.n

    return f, [(torch.ones(1),)] * 3


@program
def test_enter_that_raises():
    log = []

    class Bad:
        def __enter__(self):
            raise ValueError("enter")

        def __exit__(self, *a):
            log.append("never")

    class Good:
        def __enter__(self):
            log.append("+")

        def __exit__(self, kind, *a):
            log.append(kind.__name__)
            return True

    def f(x):
        with Good(), Bad():
            log.append("body")
        return x, log

    return f, [(torch.ones(1),)] * 2


@program
def test_not_a_manager():
    def f(x, v):
        try:
            with v:
                pass
        except (TypeError, AttributeError) as e:
            return x, type(e).__name__, str(e)

    return f, [(torch.ones(1), 5), (torch.ones(1), "s")]


@program
def test_default_dtype_changed_and_back():
    def f(x):
        torch.set_default_dtype(torch.float64)
        a = torch.ones(1)
        torch.set_default_dtype(torch.float32)
        return a, torch.ones(1), x

    return f, [(torch.ones(1),)] * 2


@program
def test_the_traceback_of_a_handled_exception_may_be_passed_on():
    def f(x, look):
        try:
            raise KeyError(1)
        except KeyError as e:
            return x + 1, look(e)

    looks = [
        lambda e: e.__traceback__ is None,
        lambda e: e.__traceback__ is e.__traceback__,
        lambda e: e.with_traceback(None).__traceback__,
        lambda e: (setattr(e, "__traceback__", None), e.__traceback__),
        lambda e: e.__traceback__.tb_lineno > 0,
    ]
    return f, [(torch.ones(2), look) for look in looks]


@program
def test_a_grad_mode_that_is_no_bool_is_refused():
    def f(x, mode):
        try:
            torch.set_grad_enabled(mode)
        except TypeError as error:
            print(error)
        return x * 2, torch.is_grad_enabled()

    return f, [(torch.ones(1), mode) for mode in (1, None, 0, True)]
