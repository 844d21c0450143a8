"""Constants of constants: CPython's constructor walks tuples by recursion, one branch after the other, and looks at no limit.

What it could not come back from is refused, wherever it is given. In a child process, which may die or never end.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

DEEP = "for _ in range(300_000): constant = (constant,)"
#: A tuple twice in a tuple, and so on: 60 objects, and more ways to the innermost than can be walked.
WIDE = "for _ in range(60): constant = (constant, constant)"
#: Code in code: its hash walks all of it.
CODE = "constant = subject.__code__\nfor _ in range(100_000): constant = constant.replace(co_consts=(constant,))"
OPTION = "options['co_consts'] += (constant,)"
OPERAND = "insts[-1:-1] = [create_load_const(constant), create_instruction('POP_TOP')]"

PROGRAM = """
import os
from pydynamo.bytecode import BytecodeError, create_instruction, create_load_const, transform_code_object

def subject(a):
    return a

def change(insts, options):
    {change}

constant = ()
{nest}
try:
    transform_code_object(subject.__code__, change)
except (BytecodeError, ValueError) as error:
    print("refused", flush=True)
except RecursionError:
    pass
os._exit(0)
"""


@pytest.mark.parametrize("change", [OPTION, OPERAND], ids=["option", "operand"])
@pytest.mark.parametrize("nest", [DEEP, WIDE], ids=["deep", "wide"])
def test_constants_that_cannot_be_walked_are_refused(nest: str, change: str) -> None:
    program = PROGRAM.format(nest=nest, change=change)
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=5)
    assert (child.returncode, child.stdout) == (0, "refused\n"), child.stderr


@pytest.mark.parametrize(
    "change", [OPERAND, OPTION + "; " + OPERAND.replace("constant)", "'another')")], ids=["new", "old"]
)
def test_code_in_code_is_no_way_to_overrun_the_stack(change: str) -> None:
    program = PROGRAM.format(nest=CODE, change=change)
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert child.returncode == 0, child.stderr
