//! The bytecode assembler: code object in, editable instructions, legal code object out.
