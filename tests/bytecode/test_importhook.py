"""Transforming modules while they are imported."""

import importlib
import importlib.util
import marshal
import sys

import pytest

from pydynamo import bytecode as b
from pydynamo.bytecode import importhook


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a submodule; the modules are forgotten afterwards."""
    root = tmp_path / "hookedpkg"
    root.mkdir()
    (root / "__init__.py").write_text("VALUE = 'original'\ndef f():\n    return 'original'\n")
    (root / "sub.py").write_text("class C:\n    def m(self):\n        return lambda: 'original'\n")
    (tmp_path / "hookedpkg_other.py").write_text("VALUE = 'original'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield root
    for name in [name for name in sys.modules if name.startswith("hookedpkg")]:
        del sys.modules[name]


def forget():
    for name in [name for name in sys.modules if name.startswith("hookedpkg")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def rename(code):
    """Replaces the constant 'original'."""
    return code.replace(co_consts=tuple("changed" if c == "original" else c for c in code.co_consts))


def test_modules_below_the_prefix_are_transformed_with_all_that_is_nested(package):
    with importhook.applied("hookedpkg", rename):
        import hookedpkg.sub
        import hookedpkg_other
    assert hookedpkg.VALUE == hookedpkg.f() == hookedpkg.sub.C().m()() == "changed"
    assert hookedpkg_other.VALUE == "original"


def test_caches_hold_what_cpython_compiled(package):
    for _ in range(2):
        with importhook.applied("hookedpkg", rename):
            module = importlib.import_module("hookedpkg")
        assert module.VALUE == "changed"
        cache = importlib.util.cache_from_source(str(package / "__init__.py"))
        with open(cache, "rb") as file:
            file.read(16)
            assert "original" in marshal.load(file).co_consts
        forget()
    assert importlib.import_module("hookedpkg").VALUE == "original"


def test_the_hook_is_gone_behind_the_block(package):
    before = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError), importhook.applied("hookedpkg", rename):
        raise ZeroDivisionError
    assert sys.meta_path == before
    hook = importhook.install("hookedpkg", rename)
    importhook.uninstall(hook)
    importhook.uninstall(hook)
    assert sys.meta_path == before


def test_the_assembler_as_a_transformation(package):
    seen = []
    with importhook.applied("hookedpkg", lambda code: b.instrument_lines(code, seen.append)):
        import hookedpkg.sub
    hookedpkg.sub.C().m()()
    assert {1, 2, 3} <= set(seen)


def test_loader_and_spec_look_as_ever(package):
    with importhook.applied("hookedpkg", rename):
        import hookedpkg
    assert hookedpkg.__spec__.origin == str(package / "__init__.py")
    assert hookedpkg.__spec__.loader.get_filename("hookedpkg") == str(package / "__init__.py")
    assert "VALUE" in hookedpkg.__spec__.loader.get_source("hookedpkg")
    assert hookedpkg.__spec__.loader.is_package("hookedpkg")
    assert importlib.reload(hookedpkg).VALUE == "original"


def test_builtin_and_extension_modules_are_left_alone():
    with importhook.applied("", rename):
        for name in ("_heapq", "_bisect", "itertools", "this_module_does_not_exist"):
            saved = sys.modules.pop(name, None)
            try:
                importlib.import_module(name)
            except ImportError:
                assert name == "this_module_does_not_exist"
            finally:
                if saved is not None:
                    sys.modules[name] = saved


def test_a_transformation_must_return_code(package):
    with (
        importhook.applied("hookedpkg", lambda code: None),
        pytest.raises(TypeError, match="not a code object"),
    ):
        importlib.import_module("hookedpkg")
    with pytest.raises(TypeError):
        importhook.install("hookedpkg", None)


def test_deep_nesting_does_not_recurse():
    code = compile("1", "<deep>", "eval")
    for _ in range(5000):
        code = code.replace(co_consts=(*code.co_consts[:1], code))
    count = 0

    def touch(code):
        nonlocal count
        count += 1
        return code

    importhook.transform_nested(code, touch)
    assert count == 5001
