//! Exports the `munmap` of `runtime/port/unmap.c`, which drivers of devices are to call.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol=munmap");
}
