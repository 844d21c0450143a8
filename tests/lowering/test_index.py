"""The index algebra against brute force over every value of the loop variable."""

import math
import random

import pytest
import torch

from pydynamo.lowering.index import (
    Atom,
    contiguous_strides,
    flatten,
    unflatten,
    var,
    view_index,
    view_strides,
)


def random_shape(rng, n):
    out = []
    while n > 1:
        d = rng.choice([k for k in range(2, n + 1) if n % k == 0])
        out.append(d)
        n //= d
    for _ in range(rng.randint(0, 2)):
        out.insert(rng.randint(0, len(out)), 1)
    return out


def coordinates(v, shape):
    out = []
    for n in reversed(shape):
        out.append(v % n)
        v //= n
    return out[::-1]


@pytest.mark.parametrize("seed", range(8))
def test_digits_of_permuted_reshaped_positions_equal_brute_force(seed):
    rng = random.Random(seed)
    for _ in range(150):
        size = rng.choice([1, 2, 6, 12, 24, 35, 36, 60, 64, 96])
        x = var(Atom("x", size, ("x",)))
        first = random_shape(rng, size)
        perm = rng.sample(range(len(first)), len(first))
        shape = [first[p] for p in perm]
        idx = unflatten(x, first)
        second = random_shape(rng, size)
        e = flatten(view_index([idx[p] for p in perm], shape, second), contiguous_strides(second))
        e = e * rng.choice([1, 1, 2, 3]) + rng.choice([0, 0, 1, 5])
        if rng.random() < 0.3:  # as a flip makes them
            e = e * -1 + e.bounds()[1] + rng.choice([0, 1, 3])
        d, m = rng.choice([1, 2, 3, 4, 6, 8]), rng.choice([None, 2, 3, 4, 5, 8])
        digit = e.digit(d, m)
        lo, hi = digit.bounds()
        for v in range(size):
            want = e.evaluate({"x": v}) // d
            want = want if m is None else want % m
            assert digit.evaluate({"x": v}) == want == eval(str(digit), {"x": v}), (e, d, m, digit)
            assert lo <= want <= hi


@pytest.mark.parametrize("seed", range(4))
def test_address_of_a_permutation_equals_torch(seed):
    rng = random.Random(seed)
    for _ in range(100):
        size = rng.choice([6, 12, 24, 36, 60])
        shape = random_shape(rng, size)
        t = torch.arange(size).view(shape)
        perm = rng.sample(range(len(shape)), len(shape))
        p = t.permute(perm)
        second = random_shape(rng, size)
        want = p.reshape(second).flatten().tolist()
        x = var(Atom("x", size, ("x",)))
        idx = view_index(unflatten(x, second), second, tuple(p.shape))
        e = flatten(idx, p.stride())
        assert [e.evaluate({"x": v}) for v in range(size)] == want


def test_contiguous_address_is_the_bare_variable():
    x = var(Atom("x", 2 * 3 * 5 * 7, ("x",)))
    idx = view_index(unflatten(x, (2, 15, 7)), (2, 15, 7), (6, 5, 7))
    assert str(flatten(idx, contiguous_strides((6, 5, 7)))) == "x"


@pytest.mark.parametrize("seed", range(6))
def test_view_strides_agree_with_torch_view(seed):
    rng = random.Random(seed)
    seen = 0
    for _ in range(300):
        size = rng.choice([4, 12, 24, 36])
        shape = random_shape(rng, size)
        base = torch.arange(size).view(shape)
        if rng.random() < 0.3:
            base = torch.arange(size * 4).view(*shape, 4)[..., 0]
        t = base.permute(rng.sample(range(len(shape)), len(shape)))
        new = random_shape(rng, math.prod(t.shape))
        try:
            want = t.view(new)
        except RuntimeError:
            assert view_strides(t.shape, t.stride(), tuple(new)) is None, (t.shape, t.stride(), new)
            continue
        got = view_strides(t.shape, t.stride(), tuple(new))
        assert got is not None, (t.shape, t.stride(), new)
        assert torch.equal(t.as_strided(new, got, t.storage_offset()), want)
        seen += 1
    assert seen > 50


def test_bounds_and_divisibility_facts():
    x = Atom("x", 100, ("x",))
    e = var(x) * 16 + 32
    assert e.bounds() == (32, 16 * 99 + 32)
    assert e.divisible_by(16) and not (e + 1).divisible_by(16)
    assert e.stride_of("x") == 16 and e.stride_of("r") == 0
