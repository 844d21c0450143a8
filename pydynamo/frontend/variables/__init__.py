"""Tracked values: a small set of general classes, each knowing how to act and how to be rebuilt."""
