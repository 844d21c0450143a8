"""What tests of generated kernels need: the mended interpreter and the graph fuzzer."""
