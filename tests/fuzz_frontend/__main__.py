"""Command line of the fuzzer."""

from __future__ import annotations

import argparse
import ast
import collections
import re
import sys
import time
from pathlib import Path
from typing import Any

from tests.fuzz_frontend.execute import Verdict, default_compiler
from tests.fuzz_frontend.grammar import generate
from tests.fuzz_frontend.shrink import shrink
from tests.fuzz_frontend.worker import Client

_DRIVER = """

if __name__ == "__main__":
    import importlib, os
    module, _, name = os.environ.get("COMPILE", "pydynamo:compile").partition(":")
    compiler = getattr(importlib.import_module(module), name)
    for title, wrap in (("eager   ", lambda f: f), ("compiled", lambda f: compiler(f, backend="eager"))):
        copy_of_this = {"__name__": "program"}
        exec(compile(open(__file__).read(), __file__, "exec"), copy_of_this)
        fn = wrap(copy_of_this["make"]())
        for args, kwargs in copy_of_this["calls"]():
            try:
                print(title, fn(*args, **kwargs))
            except Exception as error:
                print(title, "raised", repr(error))
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.fuzz_frontend", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="number of the first program")
    parser.add_argument("--count", type=int, default=200, help="how many programs")
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time that one program may take")
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after this time (0: never)")
    parser.add_argument("--per-kind", type=int, default=0, help="report only so many of each kind (0: all)")
    parser.add_argument("--show", action="store_true", help="print the programs instead of running them")
    parser.add_argument("--no-shrink", action="store_true", help="report differences as they are")
    parser.add_argument("--tries", type=int, default=300, help="candidates tried for each program that is shrunk")
    parser.add_argument("--backend", default="eager", help="backend name; any but eager is compared with a tolerance")
    parser.add_argument("--dynamic", choices=["true", "false"], help="pass dynamic= to the compiler")
    parser.add_argument("--out", type=Path, help="folder for one file per difference")
    parser.add_argument("--file", type=Path, nargs="*", help="judge these program files instead of generating any")
    parser.add_argument("--stop-after", type=int, default=0, help="stop after this many differences (0: never)")
    args = parser.parse_args()
    if args.show:
        for seed in range(args.seed, args.seed + args.count):
            print(f"# seed {seed}\n{generate(seed)}")
        return 0
    options: dict[str, Any] = {"backend": args.backend, "lax": args.backend != "eager"}
    if args.dynamic:
        options["dynamic"] = args.dynamic == "true"
    client = Client(seconds=args.seconds, **options)
    try:
        if args.file:
            return _judge_files(client, args.file)
        return _fuzz(client, args)
    finally:
        client.close()


def _judge_files(client: Client, files: list[Path]) -> int:
    bad = 0
    for path in files:
        source = path.read_text().partition("\nif __name__")[0]
        verdict = client.judge(source)
        bad += verdict.status != "same"
        print(f"{path.name}: {_line(verdict)}", flush=True)
    return bad


def _fuzz(client: Client, args: argparse.Namespace) -> int:
    totals: collections.Counter[str] = collections.Counter()
    clusters: collections.Counter[str] = collections.Counter()
    start = time.monotonic()
    busy = 0.0
    done = differing = 0
    print(
        f"{args.count} programs from seed {args.seed}: eager against {default_compiler()}, backend {args.backend}",
        flush=True,
    )
    for seed in range(args.seed, args.seed + args.count):
        if args.minutes and time.monotonic() - start > 60 * args.minutes:
            break
        source = generate(seed)
        begun = time.monotonic()
        verdict = client.judge(source)
        busy += time.monotonic() - begun
        done += 1
        totals[verdict.status] += 1
        totals["with a graph"] += verdict.graphs > 0
        totals["operations"] += verdict.ops
        totals["calls"] += verdict.calls
        totals["raising calls"] += verdict.raising
        if verdict.status in ("same", "invalid"):
            continue
        differing += 1
        cluster = _cluster(verdict)
        clusters[cluster] += 1
        print(f"seed {seed}: {_line(verdict)}", flush=True)
        if args.per_kind and clusters[cluster] > args.per_kind:
            continue
        if not args.no_shrink:
            source = shrink(source, lambda s, v=verdict: client.judge(s).signature == v.signature, tries=args.tries)
            verdict = client.judge(source)
        _report(seed, source, verdict, args)
        if args.stop_after and differing >= args.stop_after:
            break
    rate = done / busy if busy else 0.0
    valid = max(1, done - totals["invalid"])
    print(
        f"{done} programs, {differing} differ ({100 * differing / valid:.1f}%), {totals['invalid']} invalid, "
        f"{totals['timeout']} timeouts, {totals['crash']} crashes; "
        f"{100 * totals['with a graph'] / valid:.0f}% captured a graph, {totals['operations']} operations, "
        f"{totals['raising calls']} of {totals['calls']} calls raise; {rate:.1f} programs/s"
    )
    return min(differing, 100)


def _cluster(verdict: Verdict) -> str:
    """Differences that are probably one fault: same kind, same words."""
    words = verdict.notes[0] if verdict.notes else f"{verdict.where} {verdict.eager} {verdict.compiled}"
    return verdict.kind + re.sub(r"[0-9]+|'[^']*'", "", words)[:160]


def _line(verdict: Verdict) -> str:
    if verdict.status == "same":
        return f"same, {verdict.graphs} graphs"
    note = f" | {verdict.notes[0]}" if verdict.notes else ""
    said = f"eager {verdict.eager[:200]}; compiled {verdict.compiled[:200]}{note[:400]}"
    return f"{verdict.status} at {verdict.where or '?'}: {said}"


def _report(seed: int, source: str, verdict: Verdict, args: argparse.Namespace) -> None:
    text = _as_file(seed, source, verdict)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        path = args.out / f"seed_{seed}.py"
        path.write_text(text)
        print(f"  -> {path}", flush=True)
    else:
        print("-" * 100 + "\n" + text + "-" * 100, flush=True)


def _as_file(seed: int, source: str, verdict: Verdict) -> str:
    where = ast.unparse(ast.Expr(ast.Constant(f"Seed {seed}. {_line(verdict)}")))
    return f"{where}\n{source.rstrip()}\n{_DRIVER}"


if __name__ == "__main__":
    sys.exit(main())
