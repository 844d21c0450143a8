//! Lets this crate say `#[cfg(Py_3_12)]` where CPython's C API differs.
fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
