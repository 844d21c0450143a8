"""Fuzzing of the whole assembler from Python: mutate real code, assemble it, run what the verifier accepted."""
