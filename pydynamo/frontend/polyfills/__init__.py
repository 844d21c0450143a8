"""Python definitions that the translator inlines in place of functions and classes written in C."""
