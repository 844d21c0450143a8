"""Random numbers are drawn anew at every call, from the state that eager would use, and leave the same state behind."""

import random

import torch
from harness import program


@program
def test_module_functions_advance():
    def f(x):
        return x + random.randint(1, 10_000), random.random(), random.choice("abcdef")

    return f, [(torch.zeros(1),)] * 4


@program
def test_instance_passed_in():
    def f(x, rng):
        return x + rng.randint(1, 10_000)

    rng = random.Random(3)
    return f, [(torch.zeros(1), rng)] * 4


@program
def test_instance_in_a_closure():
    rng = random.Random(5)

    def f(x):
        return x * rng.random(), rng.sample(range(9), 2)

    return f, [(torch.ones(1),)] * 3


@program
def test_instance_on_an_object():
    class Noise:
        def __init__(self, seed):
            self.rng = random.Random(seed)

        def __call__(self, x):
            return x + self.rng.gauss(0, 1)

    noise = Noise(1)

    def f(x):
        return noise(x)

    return f, [(torch.ones(1),)] * 3


@program
def test_instance_made_inside():
    def f(x, n):
        return x + 1, random.Random(n).sample(range(9), 1), random.Random(n).random()

    return f, [(torch.ones(1), 3), (torch.ones(1), 4), (torch.ones(1), 5)]


@program
def test_instance_made_inside_and_returned():
    def f(x, n):
        r = random.Random(n)
        r.random()
        return x, r

    return f, [(torch.ones(1), 3), (torch.ones(1), 4)]


@program
def test_seed_inside():
    def f(x, n):
        random.seed(n)
        return x, random.randint(0, 99), random.random()

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 1)]


@program
def test_state_saved_and_restored():
    def f(x):
        state = random.getstate()
        a = random.random()
        random.setstate(state)
        return x, a == random.random()

    return f, [(torch.ones(1),)] * 2


@program
def test_shuffle_changes_the_list():
    def f(x, items):
        random.shuffle(items)
        return x * items[0]

    return f, [(torch.ones(1), [1, 2, 3, 4]), (torch.ones(1), [5, 6, 7, 8])]


@program
def test_draws_in_a_loop_with_a_count_that_varies():
    def f(x, n):
        for _ in range(n):
            x = x + random.randint(0, 5)
        return x

    return f, [(torch.ones(1), 2), (torch.ones(1), 3), (torch.ones(1), 1)]


@program
def test_draw_decides_a_branch():
    def f(x):
        if random.random() < 0.5:
            return x + 1
        return x - 1

    return f, [(torch.ones(1),)] * 6


@program
def test_draw_before_and_after_a_break():
    def f(x):
        a = random.random()
        print("break")
        b = random.random()
        return x * a + b

    return f, [(torch.ones(1),)] * 2


@program
def test_draws_in_program_order_with_torch():
    def f(x):
        a = random.random()
        y = x + torch.rand(1)
        b = random.randint(1, 6)
        return y * b + a + torch.randn(1)

    return f, [(torch.ones(1),)] * 3


@program
def test_torch_random_functions():
    def f(x):
        return (
            torch.rand(2),
            torch.randn_like(x),
            torch.randint(0, 9, (3,)),
            torch.randperm(4),
            torch.bernoulli(x * 0.5),
        )

    return f, [(torch.ones(3),)] * 2


@program
def test_dropout_draws():
    def f(x):
        return torch.nn.functional.dropout(x, 0.5), torch.nn.functional.dropout(x, 0.5, training=False)

    return f, [(torch.ones(8),)] * 3


@program
def test_manual_seed_inside():
    def f(x, n):
        torch.manual_seed(n)
        return x + torch.rand(1)

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 1)]


@program
def test_torch_state_saved_and_restored():
    def f(x):
        state = torch.get_rng_state()
        a = torch.rand(2)
        torch.set_rng_state(state)
        return x, a, torch.rand(2)

    return f, [(torch.ones(1),)] * 2


@program
def test_torch_generator_passed_in():
    def f(x, g):
        return x + torch.rand(1, generator=g)

    g = torch.Generator().manual_seed(7)
    return f, [(torch.ones(1), g)] * 3


@program
def test_fork_rng():
    def f(x):
        with torch.random.fork_rng(devices=[]):
            a = torch.rand(1)
        return x, a, torch.rand(1)

    return f, [(torch.ones(1),)] * 2


@program
def test_draw_that_nobody_uses():
    def f(x):
        random.random()
        torch.rand(1)
        return x

    return f, [(torch.ones(1),)] * 2


@program
def test_draw_before_an_exception():
    def f(x):
        a = random.random()
        if a >= 0:
            raise ValueError(a)
        return x

    return f, [(torch.ones(1),)] * 2


@program
def test_in_place_random():
    def f(x):
        x.uniform_()
        y = torch.empty(2).normal_()
        return x, y

    return f, [(torch.ones(2),)] * 2


@program
def test_random_key_in_sort():
    def f(x, items):
        return x, sorted(items, key=lambda e: random.random())

    return f, [(torch.ones(1), [1, 2, 3, 4])] * 2


@program
def test_method_taken_from_the_module():
    draw = random.randint

    def f(x):
        return x * draw(1, 100)

    return f, [(torch.ones(1),)] * 3


@program
def test_subclass_of_random():
    class Fixed(random.Random):
        def random(self):
            return 0.25

    def f(x, r):
        return x * r.random(), r.uniform(0, 4), r.choice([1, 2, 3, 4])

    r = Fixed(1)
    return f, [(torch.ones(1), r)] * 2
