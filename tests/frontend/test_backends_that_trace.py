"""A backend that makes a graph functional sees and leaves behind what the graph itself would: memory, random numbers, errors."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402


def write_one(x, y):
    x.add_(1)
    return y * 2


def write_both(x, y):
    x.add_(1)
    y.mul_(3)
    return x + y


def write_detached(x, y):
    x.detach().mul_(3)
    return abs(y)


#: pairs of tensors of two elements
PAIRS = {
    "apart": lambda: (torch.ones(2), torch.ones(2)),
    "the same": lambda: (torch.ones(2),) * 2,
    "the same memory": lambda: (lambda base: (base[:2], base[:2]))(torch.ones(4)),
    "overlapping": lambda: (lambda base: (base[:2], base[1:3]))(torch.ones(4)),
    "halves": lambda: (lambda base: (base[:2], base[2:]))(torch.ones(4)),
    "a view and its base": lambda: (lambda base: (base.view(-1), base))(torch.ones(2)),
    "detached": lambda: (lambda base: (base.detach(), base))(torch.ones(2)),
    "detached from a leaf": lambda: (lambda base: (base.detach(), base))(torch.ones(2).requires_grad_()),
    "longer": lambda: (lambda base: (base[:4], base[1:]))(torch.ones(5)),
}


def outcome(function, args):
    try:
        result = function(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return result if isinstance(result, str) else [result.tolist(), *(a.tolist() for a in args)]


@pytest.mark.parametrize("dynamic", [None, True, False])
@pytest.mark.parametrize("function", [write_one, write_both, write_detached])
@pytest.mark.parametrize("first", PAIRS)
def test_what_is_written_through_one_input_is_seen_through_another(function, first, dynamic):
    compiled = pydynamo.compile(function, backend="aot_eager", dynamic=dynamic)
    for pair in (first, *PAIRS):
        assert outcome(compiled, PAIRS[pair]()) == outcome(function, PAIRS[pair]()), pair


def test_inputs_that_are_apart_run_what_was_compiled():
    from pydynamo.frontend.overlaps import overlap, places_of

    x, y = torch.ones(4), torch.ones(4)
    places = places_of([x, y], lambda tensor: tensor is x)
    assert not overlap(places, [x, y])
    assert not overlap(places, [x[:0], x])
    assert overlap(places, [x, x])
    assert places_of([x, y], lambda tensor: False) == []
    assert places_of([x, 3], lambda tensor: True) == []


DRAWS = {
    "rand_like": torch.rand_like,
    "randn": lambda x: torch.randn(3),
    "dropout": torch.nn.functional.dropout,
    "bernoulli": torch.bernoulli,
    "in place": lambda x: x.double().normal_(),
    "two": lambda x: (torch.randint(0, 5, (2,)), torch.randperm(4)),
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_random_numbers_that_nobody_uses_are_drawn(draw, grad):
    def f(x):
        draw(x)
        return x + 1

    states = []
    for function in (f, pydynamo.compile(f, backend="aot_eager")):
        torch.manual_seed(0)
        x = torch.ones(4, requires_grad=grad)
        result = function(x)
        states.append(torch.get_rng_state())
        if grad:
            result.sum().backward()
            assert x.grad.tolist() == [1.0] * 4
    assert torch.equal(*states)


REFUSED = {
    "a mask times a number": (lambda x: x.mul_(3), torch.bool),
    "a mask times a fraction": (lambda x: x.mul_(3.5), torch.bool),
    "integers times a fraction": (lambda x: x.mul_(3.5), torch.int64),
    "integers divided": (lambda x: x.div_(2), torch.int64),
    "integers and floats": (lambda x: x.addcmul_(torch.ones(3), torch.ones(3)), torch.int64),
    "through a view": (lambda x: x[1:].mul_(3), torch.bool),
    "through data": (lambda x: x.data.mul_(3), torch.bool),
    "of a copy": (lambda x: x.clone().mul_(2), torch.bool),
    "a result that nobody uses": (lambda x: (torch.relu(x), "not reached")[1], torch.bool),
    "an absolute value that nobody uses": (lambda x: (abs(x), "not reached")[1], torch.bool),
    "an index that nobody uses": (lambda x: (torch.ones(2)[x], "not reached")[1], torch.int64),
    "integers dropped": (lambda x: torch.nn.functional.dropout(x, 0.5, True, True), torch.int64),
    "a mask dropped": (lambda x: torch.nn.functional.dropout(x, 0.5, True, True), torch.bool),
    "integers dropped by scales": (lambda x: torch.nn.functional.alpha_dropout(x, 0.5, True, True), torch.int64),
    "integers with normal numbers": (lambda x: x.normal_(), torch.int64),
    "integers with exponential numbers": (lambda x: x.exponential_(), torch.bool),
    "integers with drawn numbers added": (lambda x: x.add_(torch.rand(3)), torch.int64),
}


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize(("function", "dtype"), REFUSED.values(), ids=REFUSED)
def test_what_operators_refuse_is_refused(function, dtype, dynamic):
    compiled = pydynamo.compile(function, backend="aot_eager", dynamic=dynamic)
    x = torch.tensor([1, 2, 3], dtype=dtype)
    for _ in range(2):
        torch.manual_seed(0)
        want = outcome(function, (x.clone(),)), torch.rand(1)
        assert "Error" in want[0]
        torch.manual_seed(0)
        assert (outcome(compiled, (x.clone(),)), torch.rand(1)) == want


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.uint8])
@pytest.mark.parametrize("own", [False, True])
def test_asking_what_operators_refuse_draws_no_numbers(own, dtype):
    generator = torch.Generator()

    def f(x):
        return x.bernoulli_(0.5, generator=generator if own else None).add_(x.clone().bernoulli_(0.5))

    results = []
    for function in (f, pydynamo.compile(f, backend="aot_eager")):
        torch.manual_seed(0)
        generator.manual_seed(0)
        x = torch.ones(50, dtype=dtype)
        results.append((function(x).tolist(), torch.rand(1).item(), torch.rand(1, generator=generator).item()))
    assert results[0] == results[1]


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_dropout_that_drops_nothing_gives_its_input_back(backend, dynamic):
    def f(x):
        y = torch.nn.functional.dropout(x, 0.5, training=False)
        z = torch.dropout(x, 0.0, True)
        y.add_(1)
        return y, z, torch.nn.functional.dropout(x, training=False, inplace=True)

    x = torch.ones(3)
    assert all(tensor is x for tensor in pydynamo.compile(f, backend=backend, dynamic=dynamic)(x))
    assert x.tolist() == [2.0] * 3


WRONG_DROPOUTS = {
    "too many": lambda x: torch.nn.functional.dropout(x, 0.0, True, False, 1),
    "an unknown name": lambda x: torch.nn.functional.dropout(x, 0.0, bogus=1),
    "the other one's name": lambda x: torch.nn.functional.dropout(x, 0.0, train=False),
    "twice": lambda x: torch.nn.functional.dropout(x, 0.0, p=0.0),
    "no flag": lambda x: torch.dropout(x, 0.0),
    "no rate": lambda x: torch.dropout(x, train=False),
    "a flag of another name": lambda x: torch.dropout(x, 0.0, training=False),
    "in place": lambda x: torch.dropout(x, 0.0, False, True),
    "no tensor": lambda x: (x + 1, torch.nn.functional.dropout(p=0.0)),
    "a rate above one": lambda x: torch.nn.functional.dropout(x, 1.5, False),
    "a rate that is none": lambda x: torch.dropout(x, None, False),
}


@pytest.mark.parametrize("function", WRONG_DROPOUTS.values(), ids=WRONG_DROPOUTS)
def test_a_dropout_that_torch_refuses_is_refused(function):
    x = torch.ones(3)
    want = outcome(function, (x,))
    assert "Error" in want
    assert outcome(pydynamo.compile(function, backend="eager"), (x,)) == want


def switch_alone(x):
    torch.set_grad_enabled(False)


def switch_at_the_end(x):
    y = x * 2
    torch.set_grad_enabled(False)
    return y, x * 3


def switch_before_a_break(x):
    y = x * 2
    torch.set_grad_enabled(False)
    print(end="")
    return y, x * 3


def break_in_a_block(x):
    y = x * 2
    with torch.no_grad():
        z = x * 3
        print(end="")
        return y, z, x * 4


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [switch_alone, switch_at_the_end, switch_before_a_break, break_in_a_block])
def test_grad_mode_is_switched_where_the_program_does_it(function, backend, grad):
    def seen(function):
        x = torch.ones(2, requires_grad=grad)
        try:
            result = function(x)
            return [tensor.requires_grad for tensor in result or ()], torch.is_grad_enabled()
        finally:
            torch.set_grad_enabled(True)

    assert seen(pydynamo.compile(function, backend=backend)) == seen(function)


SINGULAR = {
    "inv": torch.linalg.inv,
    "inverse": torch.inverse,
    "cholesky": lambda a: torch.linalg.cholesky(a - 1),
    "solve": lambda a: torch.linalg.solve(a, torch.ones(2)),
    "lu_factor": lambda a: torch.linalg.lu_factor(a)[0],
    "matrix_power": lambda a: torch.linalg.matrix_power(a, -1),
    "inv_ex": lambda a: torch.linalg.inv_ex(a, check_errors=True)[0],
    "eig of nan": lambda a: torch.linalg.eig(a * float("nan"))[0],
}


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize("function", SINGULAR.values(), ids=SINGULAR)
def test_linear_algebra_refuses_what_has_no_answer(function, used):
    def f(a):
        found = function(a)
        return found if used else a + 1

    compiled = pydynamo.compile(f, backend="aot_eager")
    for grad in (False, True):
        want = outcome(f, (torch.zeros(2, 2, requires_grad=grad),))
        assert "Error" in want
        assert outcome(compiled, (torch.zeros(2, 2, requires_grad=grad),)) == want


LEAVES = {
    "ones": lambda x: torch.ones(2, requires_grad=True),
    "tensor": lambda x: torch.tensor([1.0, 2.0], requires_grad=True),
    "new_ones": lambda x: x.new_ones(2, requires_grad=True),
    "zeros_like": lambda x: torch.zeros_like(x, requires_grad=True),
    "randn": lambda x: torch.randn(2, requires_grad=True),
    "requires_grad_": lambda x: torch.ones(2).requires_grad_(),
    "Parameter": lambda x: torch.nn.Parameter(torch.ones(2)),
}
USES = {
    "returned": lambda leaf, x: leaf,
    "used": lambda leaf, x: (leaf * x, leaf.view(2, 1)),
    "used in both": lambda leaf, x: (leaf, leaf * x),
    "differentiated": lambda leaf, x: torch.autograd.grad((leaf * leaf).sum(), leaf)[0] + x,
    "written": lambda leaf, x: write_detached(leaf, x) + leaf,
}


def told_of(value):
    if isinstance(value, torch.Tensor):
        return value.tolist(), value.requires_grad, value.is_leaf, value.grad_fn is None, type(value)
    return [told_of(item) for item in value]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("make", LEAVES)
def test_leaves_made_inside_require_gradients(make, use, backend):
    made, used = LEAVES[make], USES[use]

    def function(x):
        return used(made(x), x * 2)

    compiled = pydynamo.compile(function, backend=backend)
    for needs in (False, True):
        for grad in (True, False):
            with torch.set_grad_enabled(grad):
                if not grad and use == "differentiated":
                    continue
                outcomes = []
                for run in (function, compiled):
                    torch.manual_seed(0)
                    outcomes.append(told_of(run(torch.ones(2, requires_grad=needs))))
                assert outcomes[1] == outcomes[0]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("classes", [[1, 2], [7, 1], [-1, 1]])
def test_classes_out_of_range_are_refused(classes, backend):
    def caught(x, i):
        try:
            return torch.nn.functional.one_hot(i, 3), x + 1
        except RuntimeError:
            return x - 1

    def escaping(x, i):
        return torch.nn.functional.one_hot(i, num_classes=3) + x

    for function in (caught, escaping):
        told = []
        for run in (function, pydynamo.compile(function, backend=backend)):
            try:
                told.append(told_of(run(torch.ones(1, 3), torch.tensor(classes))))
            except RuntimeError as error:
                told.append(str(error))
        assert told[1] == told[0]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_out_keeps_its_strides(backend):
    def function(x):
        y = torch.empty(3, 2).t()
        torch.add(x, 1, out=y)
        return y, torch.sin(x, out=y.clone())

    results = [run(torch.ones(2, 3)) for run in (function, pydynamo.compile(function, backend=backend))]
    assert [r.stride() for r in results[1]] == [r.stride() for r in results[0]]
    torch.testing.assert_close(results[1], results[0])


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("given", [True, False], ids=["given", "made inside"])
def test_writes_to_several_elements_in_one_place_are_refused(given, backend):
    def function(x):
        y = x if given else torch.ones(3).expand(2, 3)
        try:
            y.add_(1)
        except RuntimeError as error:
            return str(error)[:24], x + 1
        return y, x

    args = torch.ones(3).expand(2, 3)
    assert str(pydynamo.compile(function, backend=backend)(args)) == str(function(args))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize(
    "neutral", ["x + torch.zeros(2)", "x * torch.ones(2)", "torch.zeros(2) + x", "x - torch.zeros(2)"]
)
def test_a_neutral_constant_does_not_give_the_input_back(neutral, backend):
    function = eval(f"lambda x: {neutral}", {"torch": torch})  # noqa: S307
    x = torch.ones(2)
    result = pydynamo.compile(function, backend=backend)(x)
    result.add_(1)
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_hooks_of_all_modules_see_those_of_the_program(backend):
    """A backend's graphs are modules, too: what the program hooks onto all modules must not change them."""
    hooked = torch.nn.modules.module
    seen = []

    def f(x, model):
        return (model(x) * 2).sum()

    def run(fn):
        model = torch.nn.Linear(2, 2)
        with torch.no_grad():
            model.weight.fill_(0.5), model.bias.fill_(1)
        handles = [
            hooked.register_module_forward_hook(
                lambda module, args, out: seen.append(type(module).__name__) or out + 1
            ),
            hooked.register_module_forward_pre_hook(lambda module, args: seen.append(type(module).__name__)),
        ]
        try:
            results = []
            for _ in range(2):
                results.append(fn(torch.ones(1, 2), model))
                results[-1].backward()
        finally:
            for handle in handles:
                handle.remove()
        return [result.item() for result in results], model.weight.grad.tolist(), [seen.pop() for _ in list(seen)]

    assert run(pydynamo.compile(f, backend=backend)) == run(f)
