"""nn.Module: state that changes in forward, instances that share code, hooks, modes, and how often we compile."""

import torch
from harness import check, compiler, program

from tests.fuzz_frontend.execute import CountingBackend


@program
def test_counter_attribute():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    return M(), [(torch.ones(1),)] * 6


@program
def test_buffers_in_place_and_rebound():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(1))
            self.register_buffer("last", torch.zeros(1))
            self.register_buffer("none", None)

        def forward(self, x):
            self.total += x.sum()
            self.last = x.sum()[None]
            self.none = x * 1
            return self.total * self.last

    return M(), [(torch.ones(2),), (torch.ones(3),), (torch.ones(3),)]


@program
def test_lists_and_dicts_on_a_module():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.log, self.cache, self.kept = [], {}, None

        def forward(self, x, k):
            self.log.append(k)
            if k not in self.cache:
                self.cache[k] = x * 2
            self.kept = self.cache[k]
            return self.kept + len(self.log)

    return M(), [(torch.ones(1), "a"), (torch.ones(1), "b"), (torch.ones(1), "a")]


@program
def test_module_reached_through_a_function():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    torch.nn.init.constant_(net[0].weight, 0.5)
    torch.nn.init.zeros_(net[0].bias)

    def f(x):
        return net(x) + net[0].bias, len(net), [n for n, _ in net.named_parameters()]

    def change(_):
        net[0].bias.data += 1
        return (torch.ones(2),)

    def replace(_):
        net[1] = torch.nn.Tanh()
        return (torch.ones(2),)

    return f, [(torch.ones(2),), change, replace]


@program
def test_train_and_eval():
    net = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(2))

    def f(x):
        return net(x), net.training, net[0].training

    def evaluate(_):
        net.eval()
        return (torch.ones(2, 2),)

    def train(_):
        net.train()
        return (torch.ones(2, 2),)

    return f, [(torch.ones(2, 2),), evaluate, train, evaluate]


@program
def test_training_flag_changed_inside():
    class M(torch.nn.Module):
        def forward(self, x):
            y = x + 1 if self.training else x - 1
            self.train(not self.training)
            return y

    return M(), [(torch.ones(1),)] * 3


@program
def test_hooks():
    log = []
    net = torch.nn.ReLU()
    net.register_forward_pre_hook(lambda m, a: log.append("pre"))
    net.register_forward_hook(lambda m, a, out: out * 2)

    def f(x):
        return net(x), len(log)

    def more(_):
        net.register_forward_hook(lambda m, a, out: out + 100)
        return (torch.ones(1),)

    def fewer(_):
        net._forward_hooks.clear()
        return (torch.ones(1),)

    return f, [(torch.ones(1),), more, fewer]


@program
def test_hook_that_changes_the_input():
    net = torch.nn.Linear(2, 1)
    torch.nn.init.ones_(net.weight)
    torch.nn.init.zeros_(net.bias)
    net.register_forward_pre_hook(lambda m, a: (a[0] * 10,))

    def f(x):
        return net(x)

    return f, [(torch.ones(2),)]


@program
def test_inheritance_super_and_properties():
    class Base(torch.nn.Module):
        scale = 2

        def forward(self, x):
            return x * self.factor

        @property
        def factor(self):
            return self.scale + self.extra()

        def extra(self):
            return 0

    class Net(Base):
        def forward(self, x):
            return super().forward(x) + 1

        def extra(self):
            return len(list(self.children()))

    net = Net()

    def change(_):
        net.scale = 5
        net.add_module("child", torch.nn.Identity())
        return (torch.ones(1),)

    return net, [(torch.ones(1),), change]


@program
def test_module_list_and_dict():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Identity()])
            self.by = torch.nn.ModuleDict({"a": torch.nn.Tanh(), "b": torch.nn.Sigmoid()})
            self.ps = torch.nn.ParameterList([torch.ones(1), torch.ones(1) * 2])
            self.pd = torch.nn.ParameterDict({"k": torch.ones(1) * 3})

        def forward(self, x, key):
            for i, layer in enumerate(self.layers):
                x = layer(x) + i
            if key in self.by:
                x = self.by[key](x)
            return (
                x * self.ps[1] + self.pd["k"],
                len(self.layers),
                list(self.by.keys()),
                [type(v).__name__ for v in self.layers[:1]],
            )

    return M(), [(torch.ones(1), "a"), (torch.ones(1), "b"), (torch.ones(1), "z")]


@program
def test_attribute_of_a_module_changes_its_type():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = torch.relu
            self.scale = 1

        def forward(self, x):
            return self.act(x) * self.scale

    net = M()

    def second(_):
        net.act = torch.nn.Tanh()
        net.scale = 0.5
        return (torch.ones(1),)

    def third(_):
        del net.act
        net.act = lambda v: v - 1
        net.scale = torch.full((1,), 3.0)
        return (torch.ones(1),)

    return net, [(torch.ones(1),), second, third]


@program
def test_gradients_reach_parameters():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            return (x * self.w).sum()

    net = M()

    def f(x):
        loss = net(x)
        loss.backward()
        return loss, net.w.grad

    return f, [(torch.ones(2),), (torch.full((2,), 3.0),)]


@program
def test_module_has_own_getattr_and_call():
    class M(torch.nn.Module):
        def __getattr__(self, name):
            if name == "made":
                return 5
            return super().__getattr__(name)

        def forward(self, x):
            return x * self.made

        def __call__(self, x):
            return super().__call__(x) + 1

    net = M()

    def f(x):
        return net(x), net.forward(x), hasattr(net, "nope")

    return f, [(torch.ones(1),)]


@program
def test_shared_submodule_and_parameter():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 2, bias=False)
            torch.nn.init.ones_(self.a.weight)
            self.b = self.a
            self.w = self.a.weight

        def forward(self, x):
            return self.a(self.b(x)) + self.w.sum(), self.a is self.b, self.w is self.b.weight

    return M(), [(torch.ones(2),)]


def _count(make, calls):
    compile_fn, reset = compiler()
    reset()
    backend = CountingBackend()
    c = compile_fn(make(), backend=backend)
    for args, want in calls:
        got = c(*args)
        assert torch.equal(got, want), (got, want)
    return backend.graphs


def test_counter_attribute_compiles_few_times():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    assert _count(M, [((torch.ones(1),), torch.full((1,), float(k))) for k in range(1, 9)]) <= 3


def test_instances_that_differ_in_weights_share_a_graph():
    class Blk(torch.nn.Module):
        def __init__(self, k):
            super().__init__()
            self.w = torch.nn.Parameter(torch.full((2,), float(k)))

        def forward(self, x):
            return x * self.w

    x = torch.ones(2)
    with torch.no_grad():
        assert _count(lambda: lambda m, x: m(x) + 1, [((Blk(k), x), torch.full((2,), k + 1.0)) for k in range(10)]) <= 2


def test_int_argument_becomes_dynamic():
    calls = [((torch.ones(1), k), torch.full((1,), float(k))) for k in range(2, 12)]
    assert _count(lambda: lambda x, n: x * n, calls) <= 3


def test_shape_becomes_dynamic():
    calls = [((torch.ones(k),), torch.full((k,), float(k))) for k in range(2, 12)]
    assert _count(lambda: lambda x: x * x.shape[0], calls) <= 3


def test_instances_of_one_class_with_other_numbers():
    class M(torch.nn.Module):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def forward(self, x):
            return x * self.k

    def make():
        def f(x, nets):
            for net in nets:
                x = net(x)
            return x

        return f, [
            (torch.ones(1), [M(2), M(3)]),
            (torch.ones(1), [M(3), M(2), M(5)]),
            (torch.ones(1), [M(1)]),
        ]

    check(make)


@program
def test_dictionaries_of_a_module_that_are_changed_by_hand():
    class Keeps(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x, how):
            if how == "put":
                self._buffers["made"] = torch.ones(1)
                self._modules["inner"] = torch.nn.Identity()
                return x + self.made, self.inner, hasattr(self, "made"), list(self._buffers)
            if how == "set":
                self.count = self.count + 1
                return x + self._buffers["count"], dict(self.named_buffers())
            if how == "read":
                before = self._buffers["count"]
                self.count = before + 1
                return x + self._buffers["count"], self.count
            self._buffers.pop("made")
            return x + 1, hasattr(self, "made"), self._buffers.keys()

    return Keeps(), [(torch.ones(1), how) for how in ("put", "set", "read", "put", "drop")]
