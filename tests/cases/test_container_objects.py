"""Objects of classes that derive from dict, OrderedDict and list: outputs of models, configurations, typed lists."""

import collections
import copy
import dataclasses

from harness import program, torch, whole

ONE = torch.ones(3)


@whole
def test_an_output_that_is_a_dictionary_and_a_dataclass():
    class Output(collections.OrderedDict):
        def __post_init__(self):
            for field in dataclasses.fields(self):
                value = getattr(self, field.name)
                if value is not None:
                    self[field.name] = value

        def __getitem__(self, key):
            return dict(self.items())[key] if isinstance(key, str) else self.to_tuple()[key]

        def __setattr__(self, name, value):
            if name in self.keys() and value is not None:
                super().__setitem__(name, value)
            super().__setattr__(name, value)

        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            super().__setattr__(key, value)

        def to_tuple(self):
            return tuple(self[key] for key in self.keys())

    @dataclasses.dataclass
    class Loss(Output):
        loss: object = None
        logits: object = None
        states: object = None

    def f(x, given):
        made = Loss(loss=x.sum(), logits=x * 2)
        made.states = (x, made.loss)
        made["logits"] = x + 1
        given.logits = given[0] + given["logits"]
        return made, made[0], made["logits"], list(made), len(made), given.to_tuple(), "states" in made, made.states

    return f, [(ONE, Loss(loss=ONE, logits=ONE + 1)), (ONE + 1, Loss(loss=ONE, logits=ONE + 1, states=ONE))]


@whole
def test_a_dictionary_with_attributes():
    class Settings(dict):
        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

        def __setattr__(self, name, value):
            self[name] = value

        def __delattr__(self, name):
            del self[name]

    def f(x, given):
        made = Settings(scale=x, shift=1, **given)
        made.more = x * given.factor
        given.seen = x + 1
        del given.old
        return (
            made,
            made.scale + made.shift,
            hasattr(made, "none"),
            dict(given),
            {**made},
            dict(made, last=1),
            sorted(given),
        )

    def given():
        return (ONE, Settings(factor=2, old=0))

    return f, [given(), given()]


@whole
def test_a_list_with_methods():
    class Batch(list):
        def total(self):
            return sum(self)

        def append(self, item):
            super().append(item * 2)

    def f(x, given):
        made = Batch([x, x + 1])
        made.append(x)
        given.append(x)
        made.extend(given)
        made += [x]
        made.name = "made"
        first, *_ = made
        swapped = made[::-1]
        return made, made.total(), swapped, made + given, [*given], len(made), first, torch.stack(made), type(made[:1])

    def given():
        return (ONE, Batch([ONE, ONE + 1]))

    return f, [given(), given()]


@whole
def test_comparisons_are_those_of_the_base():
    class Names(list):
        pass

    class Table(dict):
        pass

    class Ordered(collections.OrderedDict):
        pass

    class Picky(list):
        def __eq__(self, other):
            return "picky"

    def f(x):
        a, b = Names([1, 2]), Names([1, 2])
        table, other = Table(a=1, b=2), Ordered(b=2, a=1)
        answers = [a == b, a == [1, 2], [1, 2] == a, a != b, a < [1, 3], a == (1, 2), a is b, table == other]
        answers += [table == {"b": 2, "a": 1}, other == Ordered(a=1, b=2), {"a": 1} == table, Picky([1]) == [2]]
        return x + 1, answers, a + b, [0] + a, table | {"c": 3}, {"c": 3} | table, 2 in a, "a" in table

    return f, [(ONE,)]


@whole
def test_a_default_for_what_is_missing():
    class Zeros(dict):
        def __missing__(self, key):
            return 0

    def f(x, given):
        made = Zeros(a=1)
        return x + 1, made["a"], made["b"], made.get("b"), given["c"], given.get("c", 5), given["d"], list(given)

    return f, [(ONE, Zeros(c=1))]


@whole
def test_methods_of_the_base():
    class Table(dict):
        pass

    def f(x, given):
        given.update({"b": x}, c=1)
        given.setdefault("d", 4)
        out = [given.pop("a"), given.popitem(), given.copy(), list(given.items()), list(reversed(given))]
        given |= {"e": 5}
        made = Table([("x", 1)])
        made.clear()
        made["y"] = given
        return out, made, bool(made), bool(Table()), isinstance(made, dict), x + 1

    def given():
        return (ONE, Table(a=1, z=2))

    return f, [given(), given()]


@program
def test_update_of_an_ordered_dictionary_stores_through_the_override():
    class Log(collections.OrderedDict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            if key != "log":
                self.stored = [*getattr(self, "stored", []), key]

    def f(x, given):
        made = Log(a=1)
        made.update(b=2)
        given.update({"c": x})
        given.setdefault("d", 1)
        return made, made.stored, given.stored, given.pop("c"), x + 1

    return f, [(ONE, Log(z=1)), (ONE, Log(z=1))]


@program
def test_update_of_a_dictionary_stores_past_the_override():
    class Loud(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value * 10)

        def keys(self):
            return ["no", "keys"]

    def f(x, given):
        made = Loud(a=1)
        made.update(b=2)
        made["c"] = 3
        given["d"] = 4
        return made, dict(made), dict(given), made.keys(), x + 1

    return f, [(ONE, Loud(z=1)), (ONE, Loud(z=1))]


@program
def test_they_live_through_a_graph_break():
    class Batch(list):
        pass

    class Table(dict):
        pass

    def f(x, given):
        made, table = Batch([x]), Table(a=x)
        made.name, made.self = "made", made
        table["batch"], keys = made, table.keys()
        given.append(x)
        print("break")
        made.append(x + 1)
        table["b"] = x + 2
        given.append(made)
        return made.name, made.self is made, table["batch"] is made, list(keys), given, len(made)

    return f, [(ONE, Batch()), (ONE, Batch([1]))]


@program
def test_other_contents_are_another_program():
    class Table(dict):
        pass

    class Batch(list):
        pass

    class Ordered(collections.OrderedDict):
        pass

    def f(table, batch, ordered):
        return sum(table.values()), [item + 1 for item in batch], [key for key in ordered], table

    reordered = Ordered(a=1, b=2)
    reordered.move_to_end("a")
    return f, [
        (Table(a=ONE), Batch([ONE]), Ordered(a=1, b=2)),
        (Table(b=ONE), Batch([ONE]), Ordered(a=1, b=2)),
        (Table(b=ONE), Batch([ONE, ONE]), Ordered(a=1, b=2)),
        (Table(b=ONE), Batch([ONE, 2]), reordered),
        (Table(b=ONE), [ONE, 2], reordered),
    ]


@whole
def test_the_order_of_an_ordered_dictionary_is_guarded():
    def f(x, given):
        return x + 1, [key for key in given], list(given.values())

    moved = collections.OrderedDict(a=1, b=2)
    moved.move_to_end("a")
    return f, [(ONE, collections.OrderedDict(a=1, b=2)), (ONE, moved), (ONE, collections.OrderedDict(a=1, b=2))]


@program
def test_errors_are_those_of_the_base():
    class Table(dict):
        pass

    class Batch(list):
        pass

    def f(x, case):
        table, batch = Table(a=1), Batch([1])
        try:
            if case == 0:
                return table["b"]
            if case == 1:
                return batch[1]
            if case == 2:
                del table["b"]
            if case == 3:
                return {table: 1}
            if case == 4:
                return batch.none
            if case == 5:
                return table.pop("b")
            return batch + 1
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            return x + 1, type(error).__name__, str(error)

    return f, [(ONE, case) for case in range(7)]


@program
def test_slots_new_and_reading_past_everything():
    class Slotted(list):
        __slots__ = ("tag",)

        def __new__(cls, items, tag):
            made = super().__new__(cls)
            made.tag = tag
            return made

        def __init__(self, items, tag):
            super().__init__(items)

    class Reads(dict):
        def __getattribute__(self, name):
            return 7 if name == "seven" else super().__getattribute__(name)

    def f(x, given):
        made, reads = Slotted([x], "t"), Reads(a=x)
        reads.own = 1
        return made, made.tag, made[0] + 1, reads.seven, reads.own, list(reads.keys()), given.tag, given[0] + 1

    return f, [(ONE, Slotted([ONE], "u"))]


@program
def test_attributes_that_a_container_itself_has():
    class Pair(collections.namedtuple("Pair", "a b")):
        pass

    def f(x, held):
        return x + 1, hasattr(held, "note"), getattr(held, "note", None), hasattr(held, "other")

    calls = []
    for held in (collections.OrderedDict(a=1), collections.Counter("ab"), Pair(1, 2)):
        calls.append((torch.ones(1), copy.copy(held)))
        held.note = 3
        calls.append((torch.ones(1), held))
    return f, calls


@program
def test_state_dict_has_its_metadata():
    layer = torch.nn.Sequential(torch.nn.Linear(1, 1))

    def f(x):
        state = layer.state_dict()
        return x + 1, list(state), state._metadata

    return f, [(torch.ones(1),)] * 2
