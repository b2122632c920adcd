//! DPDK as it is started. Alone in its process: DPDK starts once in a process, and `integration` starts it with the vectors that the machine has.
#![allow(unsafe_code, clippy::unwrap_used)]

use runtime::{Cache, Compiler, PortLayer, PortSettings, compile};

/// Libraries that choose among their forms ask DPDK what vectors they may have.
#[test]
fn libraries_have_the_vectors_that_they_are_given() {
    let cache = Cache::at(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let layer = match Compiler::find(None).unwrap().dpdk_layer(&cache) {
        Err(compile::Failure::NoDpdk) => {
            return eprintln!("skipped: DPDK's development files are not installed (make setup)");
        }
        layer => layer.unwrap(),
    };
    let mut settings = PortSettings::of_machine(1024, 2048);
    settings.vector_bytes = Some(16);
    let _dpdk = PortLayer::start(&layer, &settings).unwrap();
    // SAFETY: the layer is loaded already, with the library that has this function, as DPDK's header declares it.
    let bits = unsafe {
        let library = libloading::Library::new(&layer).unwrap();
        let ask: libloading::Symbol<'_, unsafe extern "C" fn() -> u16> =
            library.get(b"rte_vect_get_max_simd_bitwidth").unwrap();
        ask()
    };
    assert_eq!(bits, 128);
}
