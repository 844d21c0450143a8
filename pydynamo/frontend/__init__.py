"""The compiler frontend: from a frame to FX graphs, guards and new bytecode. See docs/frontend-architecture.md."""
