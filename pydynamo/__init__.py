"""pydynamo: a CPython bytecode assembler with a compiler frontend."""
