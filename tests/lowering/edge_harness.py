"""Edge cases: functions that build (function, arguments), each compared with eager on both fronts."""

import pytest
import torch
from lowering_harness import FRONTS, check

NAN, INF = float("nan"), float("inf")
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-38, 1e38, 3.0] * 3


def T(x, dt=torch.float32):
    return torch.tensor(x, dtype=dt)


def R(*shape, dt=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dt)


class Cases:
    """The cases of one file; ``@case(**options of check)`` registers one."""

    def __init__(self):
        self.known = {}

    def __call__(self, fronts=FRONTS, **opts):
        """`fronts`: those whose own rewriting of the function leaves what the case is about."""

        def deco(build):
            assert build.__name__ not in self.known, f"two cases are called {build.__name__}"
            self.known[build.__name__] = (build, opts, fronts)
            return build

        return deco

    def test(self):
        """The test of every case; the slow ones go through the package's own frontend."""
        every = [
            pytest.param(name, front, marks=[pytest.mark.slow] if front != fronts[0] else [], id=f"{name}-{front}")
            for name, (_, _, fronts) in self.known.items()
            for front in fronts
        ]

        @pytest.mark.parametrize("name, front", every)
        def test(name, front):
            build, opts, _ = self.known[name]
            fn, args = build()
            check(fn, args, front=front, **opts)

        return test
