"""A differential fuzzer for the frontend: random Python programs around tensors, eager against compiled.

`python -m tests.fuzz_frontend --seed 0 --count 1000`; COMPILE=pkg.mod:attr names the system under test.
"""
