"""An AttributeError of a property or descriptor sends the reader to ``__getattr__``, as one of ``__getattribute__`` does."""

import enum
import functools

import torch
from harness import program, seeded


@program
def test_descriptors_of_objects():
    class Raises:
        def __get__(self, owner, kind):
            raise AttributeError("from the descriptor")

    class RaisesAlways(Raises):
        def __set__(self, owner, value):
            pass

    class Plain:
        weak, strong = Raises(), RaisesAlways()

        @property
        def computed(self):
            return self.missing

        @functools.cached_property
        def cached(self):
            return self.missing

        def __getattr__(self, name):
            if name == "missing":
                raise AttributeError(name)
            return f"instead of {name}"

    class Through(Plain):
        def __getattribute__(self, name):
            return super().__getattribute__(name)

        @property
        def above(self):
            return super().computed

    plain, through = Plain(), Through()

    def f(x):
        told = [through.above]
        for o in (plain, through, Plain(), Through()):
            told += [o.weak, o.strong, o.computed, o.cached]
            told += [hasattr(o, "computed"), getattr(o, "computed", 3), hasattr(o, "weak"), hasattr(o, "missing")]
        return told, x + 1

    return f, [(torch.ones(2),)] * 2


@program
def test_properties_of_modules():
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(1, 1)

        @property
        def computed(self):
            return self.missing

        @property
        def wrong(self):
            raise ValueError("wrong")

        def __getattribute__(self, name):
            return "known" if name == "magic" else super().__getattribute__(name)

        def forward(self, x):
            told = [hasattr(self, "computed"), getattr(self, "computed", 5), self.magic, hasattr(self, "inner")]
            for read in (lambda: self.wrong, lambda: self.computed):
                try:
                    read()
                except (ValueError, AttributeError) as error:
                    told += error.args
            return told, x + 1

    class Lenient(Module):
        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return f"instead of {name}"

    strict, lenient = seeded(Module), seeded(Lenient)

    def f(x):
        return strict(x), lenient(x)

    def found_later(*_):
        Module.missing = 5
        return (torch.ones(2),)

    return f, [(torch.ones(2),), found_later]


@program
def test_getattr_that_comes_later():
    class Plain:
        @property
        def computed(self):
            raise AttributeError("gone")

    plain = Plain()

    def f(x):
        return hasattr(plain, "computed"), getattr(plain, "computed", 1), x + 1

    def later(*_):
        Plain.__getattr__ = lambda self, name: 7
        return (torch.ones(2),)

    return f, [(torch.ones(2),), later]


@program
def test_members_of_an_enum():
    class Member(enum.Enum):
        ONE = 1

        @property
        def computed(self):
            raise AttributeError("gone")

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            return f"instead of {name}"

    def f(x):
        return Member.ONE.computed, hasattr(Member.ONE, "computed"), x + 1

    return f, [(torch.ones(2),)]
