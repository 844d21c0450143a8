"""Makes a program that differs smaller while it goes on differing in the same way.

Works on the syntax tree: drops statements (in halving runs), lifts the bodies of compound statements, drops
calls and list elements, replaces expressions by their parts. Asks a predicate about every candidate, within
a budget.
"""

from __future__ import annotations

import ast
import time
import warnings
from collections.abc import Callable, Iterator

Predicate = Callable[[str], bool]


def shrink(source: str, holds: Predicate, *, tries: int = 400, seconds: float = 120.0) -> str:
    """The smallest program found for which `holds` is true; every step was checked."""
    return _Shrinker(source, holds, tries, seconds).run()


class _Shrinker:
    def __init__(self, source: str, holds: Predicate, tries: int, seconds: float) -> None:
        self.best, self.holds, self.tries = source, holds, tries
        self.deadline = time.monotonic() + seconds
        self.seen: set[str] = set()

    def run(self) -> str:
        passes = (self._statements, self._lift, self._expressions)
        progress = True
        while progress and not self._spent():
            progress = False
            for one in passes:
                progress |= one()
        self._imports()
        return self.best

    def _spent(self) -> bool:
        return self.tries <= 0 or time.monotonic() > self.deadline

    def _try(self, tree: ast.AST) -> bool:
        if self._spent():
            return False
        try:
            candidate = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                compile(candidate, "<candidate>", "exec")
        except (SyntaxError, ValueError, RecursionError):
            return False
        if candidate in self.seen or len(candidate) >= len(self.best) + 20:
            return False
        self.seen.add(candidate)
        self.tries -= 1
        if self.holds(candidate):
            self.best = candidate
            return True
        return False

    def _statements(self) -> bool:
        """Drops runs of statements, from long runs to single ones, last first."""
        any_gain = False
        size = 8
        while size >= 1:
            gained = True
            while gained and not self._spent():
                gained = False
                count = len(list(_bodies(ast.parse(self.best))))
                for b in reversed(range(count)):
                    bodies = list(_bodies(ast.parse(self.best)))
                    if b >= len(bodies):
                        continue
                    length = len(bodies[b][1])
                    start = length - size
                    while start > -size and length > 0:
                        tree = ast.parse(self.best)
                        node, body = list(_bodies(tree))[b]
                        lo = max(start, 0)
                        if lo + size > len(body) + size:
                            break
                        removed = body[lo : start + size]
                        if removed and not _essential(removed):
                            del body[lo : start + size]
                            if not body and not isinstance(node, ast.Module):
                                body.append(ast.Pass())
                                if len(removed) == 1 and isinstance(removed[0], ast.Pass):
                                    start -= size
                                    continue
                            if self._try(tree):
                                gained = any_gain = True
                        start -= size
                if size > 1:
                    break
            size //= 2
        return any_gain

    def _lift(self) -> bool:
        """Replaces a compound statement by one of its bodies; drops else, finally and single handlers."""
        gain = False
        index = 0
        while not self._spent():
            tree = ast.parse(self.best)
            sites = [
                (body, i)
                for _, body in _bodies(tree)
                for i, s in enumerate(body)
                if hasattr(s, "body") or isinstance(s, ast.Match)
            ]
            if index >= len(sites):
                return gain
            body, i = sites[index]
            statement = body[i]
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                index += 1
                continue
            done = False
            for part in _parts(statement):
                saved = list(body)
                body[i : i + 1] = part
                if self._try(tree):
                    done = gain = True
                    break
                body[:] = saved
            if not done and isinstance(statement, ast.Try):
                for attribute in ("handlers", "orelse", "finalbody"):
                    old = getattr(statement, attribute)
                    if old:
                        setattr(statement, attribute, old[:-1])
                        if self._try(tree):
                            done = gain = True
                            break
                        setattr(statement, attribute, old)
            if not done:
                index += 1
        return gain

    def _expressions(self) -> bool:
        """Replaces expressions by a part or a literal; drops elements of displays and arguments."""
        gain = False
        index = 0
        while not self._spent():
            tree = ast.parse(self.best)
            sites = list(_expression_sites(tree))
            if index >= len(sites):
                return gain
            parent, field, position = sites[index]
            holder = getattr(parent, field)
            node = holder[position] if position is not None else holder
            done = False
            for replacement in _replacements(node):
                _set(parent, field, position, replacement)
                if self._try(tree):
                    done = gain = True
                    break
                _set(parent, field, position, node)
            if (
                not done
                and position is not None
                and (field in ("elts", "args", "keywords", "values", "comparators", "decorator_list"))
            ):
                if isinstance(parent, (ast.List, ast.Tuple, ast.Set, ast.Call)) and len(holder) > 0:
                    kept = list(holder)
                    del holder[position]
                    if self._try(tree):
                        done = gain = True
                    else:
                        holder[:] = kept
                elif isinstance(parent, ast.Dict) and field == "values":
                    keys = list(parent.keys)
                    kept = list(holder)
                    del holder[position], parent.keys[position]
                    if self._try(tree):
                        done = gain = True
                    else:
                        holder[:], parent.keys[:] = kept, keys
            if not done:
                index += 1
        return gain

    def _imports(self) -> None:
        """Drops the imports that are not needed; does not count against the budget of tries."""
        self.tries, self.deadline = max(self.tries, 40), max(self.deadline, time.monotonic() + 15)
        names = {n.id for n in ast.walk(ast.parse(self.best)) if isinstance(n, ast.Name)}
        tree = ast.parse(self.best)
        for node in list(tree.body):
            if isinstance(node, ast.Import):
                kept = [a for a in node.names if (a.asname or a.name).split(".")[0] in names | {"torch"}]
                if kept:
                    node.names = kept
                else:
                    tree.body.remove(node)
        self._try(tree)


def _bodies(tree: ast.AST) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                yield node, body


def _essential(statements: list[ast.stmt]) -> bool:
    return any(isinstance(s, ast.FunctionDef) and s.name in ("make", "calls") for s in statements)


def _parts(statement: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(statement, ast.Match):
        return [case.body for case in statement.cases]
    parts = [getattr(statement, f, []) for f in ("body", "orelse", "finalbody")]
    parts += [handler.body for handler in getattr(statement, "handlers", [])]
    return [part for part in parts if part]


def _expression_sites(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            continue
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                yield node, field, None
            elif isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, (ast.expr, ast.keyword)):
                        yield node, field, i


def _replacements(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, (ast.Constant, ast.Name, ast.keyword)) or isinstance(
        getattr(node, "ctx", None), (ast.Store, ast.Del)
    ):
        return []
    parts: list[ast.AST] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Starred):
            child = child.value
        if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), (ast.Store, ast.Del)):
            parts.append(child)
        if isinstance(child, ast.keyword):
            parts.append(child.value)
    return [*parts[:4], ast.Constant(1), ast.Constant(None)]


def _set(parent: ast.AST, field: str, position: int | None, value: ast.AST) -> None:
    if position is None:
        setattr(parent, field, value)
    else:
        getattr(parent, field)[position] = value
