//! Builds the C shim against the internal headers of the interpreter that PyO3 builds for.
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo:rerun-if-changed=src/frame_shim.c");
    println!("cargo:rerun-if-changed=src/object_shim.c");
    println!("cargo:rerun-if-changed=src/stack_shim.c");
    println!("cargo:rerun-if-changed=src/shim.h");
    println!("cargo:rerun-if-env-changed=PYDYNAMO_SYSROOT");

    let include = include_folder();
    let mut build = cc::Build::new();
    match std::env::var_os("PYDYNAMO_SYSROOT").map(PathBuf::from) {
        Some(sysroot) => {
            // The interpreter lives in another root: its paths are relative to that root, and a split pyconfig.h is
            // found in that root's multiarch folder.
            let relative = include.strip_prefix("/").unwrap_or(&include);
            build.include(sysroot.join(relative));
            build.flag(format!("-idirafter{}", sysroot.join("usr/include").display()));
        }
        None => {
            build.include(include);
        }
    }
    build
        .file("src/frame_shim.c")
        .file("src/object_shim.c")
        .file("src/stack_shim.c")
        .opt_level(2)
        .warnings(false) // CPython's internal headers are not ours to keep quiet
        .compile("pydynamo_shim");
}

/// The folder of the interpreter's headers, as the interpreter itself says.
fn include_folder() -> PathBuf {
    println!("cargo:rerun-if-env-changed=PYO3_PYTHON");
    let script = "import sysconfig; print(sysconfig.get_path('include'))";
    // What PYO3_PYTHON names may be a wrapper around an interpreter in another root, whose own path means nothing here.
    let output = match std::env::var_os("PYO3_PYTHON") {
        Some(python) => Command::new(python)
            .args(["-c", script])
            .output()
            .ok()
            .filter(|output| output.status.success())
            .and_then(|output| String::from_utf8(output.stdout).ok()),
        None => pyo3_build_config::get().run_python_script(script).ok(),
    };
    let output = output.expect(
        "the eval-frame hook is built against the interpreter's own headers: set PYO3_PYTHON to an interpreter that runs",
    );
    Path::new(output.trim()).to_path_buf()
}
