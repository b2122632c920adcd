//! Which objects are made, of which flags and by which compiler.

use super::*;

#[test]
fn a_compiler_that_does_not_exist_is_said_so() {
    let failure = Compiler::find(Some("no-such-cc")).unwrap_err().to_string();
    assert!(failure.contains("no-such-cc cannot be run") && failure.contains("--cc"), "{failure}");
}

#[test]
fn refused_code_names_the_file_and_leaves_no_object() {
    let root = std::env::temp_dir().join(format!("bacus-compile-test-{}", std::process::id()));
    let cache = Cache::at(&root).unwrap();
    let compiler = Compiler::find(None).unwrap();
    let failure = compiler.pipeline(&cache, "broken", "int x = ;\n", Descriptor::Own).unwrap_err().to_string();
    assert!(failure.contains("broken-") && failure.contains("error:"), "{failure}");
    let objects = fs::read_dir(root.join("pipelines")).unwrap();
    assert!(objects.flatten().all(|file| file.path().extension().is_some_and(|extension| extension == "c")));
    fs::remove_dir_all(root).unwrap();
}

fn assert_compiles(name: &str, c: &str) {
    let root = std::env::temp_dir().join(format!("bacus-{name}-test-{}", std::process::id()));
    let cache = Cache::at(&root).unwrap();
    for compiler in ["gcc", "clang"].into_iter().filter_map(|command| Compiler::find(Some(command)).ok()) {
        let compiled = compiler.pipeline(&cache, name, c, Descriptor::Own);
        assert!(compiled.is_ok(), "{}", compiled.unwrap_err());
    }
    fs::remove_dir_all(root).unwrap();
}

/// Storage of the worker that is compared with a null pointer and then cleared, as that of copied headers: gcc follows the path on which the
/// worker's memory would be at address 0, and warns about `memset`.
#[test]
fn a_guess_about_null_pointers_stops_no_compilation() {
    const C: &str = "#include <stddef.h>
#include <stdint.h>
#include <string.h>
struct scratch { uint8_t header[3]; };
struct memory { struct scratch scratch; };
struct state { struct scratch *scratch; uint8_t *header; };
void clear(struct state *state, struct memory *memory);
void clear(struct state *state, struct memory *memory)
{
	state->scratch = &memory->scratch;
	state->header = state->scratch->header;
	if (state->header == NULL)
		state->header = memset(state->scratch->header, 0, 3u);
}
";
    assert_compiles("cleared", C);
}

/// A header that lies elsewhere is copied to the worker's storage. Behind enough calls, gcc follows the path on which it lies there already, which a
/// comparison rules out. Here it cannot see that `is_there` is never set.
#[test]
fn a_guess_about_overlapping_copies_stops_no_compilation() {
    const C: &str = "#include <stdbool.h>
#include <stdint.h>
#include <string.h>
struct scratch { uint8_t front[1]; uint8_t header[15]; };
void keep(struct scratch *scratch, bool is_there);
void keep(struct scratch *scratch, bool is_there)
{
	if (is_there)
		memcpy(scratch->header, scratch->front, 15u);
}
";
    assert_compiles("overlapping", C);
}

/// Whether a pipeline compiles that is refused where a macro is defined.
fn compiles_without(compiler: &Compiler, cache: &Cache, unwanted: &str) -> bool {
    let c = format!("#include \"table/vectors.h\"\n#ifdef {unwanted}\n#error unwanted\n#endif\nextern int none;\n");
    compiler.pipeline(cache, "vectors", &c, Descriptor::Own).is_ok()
}

#[test]
fn vectors_that_a_machine_lacks_are_not_in_its_code() {
    let root = std::env::temp_dir().join(format!("bacus-vectors-test-{}", std::process::id()));
    let cache = Cache::at(&root).unwrap();
    for mut compiler in ["gcc", "clang"].into_iter().filter_map(|command| Compiler::find(Some(command)).ok()) {
        for (bytes, unwanted) in [(16, "TABLE_AVX2"), (16, "TABLE_AVX512"), (32, "TABLE_AVX512")] {
            compiler.vector_bytes = Some(bytes);
            assert!(compiles_without(&compiler, &cache, unwanted), "{} {bytes} {unwanted}", compiler.command());
        }
        // What this processor has, whatever a file has of wider ones.
        for bytes in [None, Some(64)] {
            compiler.vector_bytes = bytes;
            let is_without = !is_x86_feature_detected!("avx2");
            assert_eq!(compiles_without(&compiler, &cache, "TABLE_AVX2"), is_without, "{bytes:?}");
        }
    }
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn what_was_compiled_before_needs_no_compiler() {
    let root = std::env::temp_dir().join(format!("bacus-cached-test-{}", std::process::id()));
    let cache = Cache::at(&root).unwrap();
    let compiler = recorder(&root);
    let made = compiler.pipeline(&cache, "one", "int one;", Descriptor::Own).unwrap();
    let absent = Compiler::new("gcc, clang", Version::Absent("No such file or directory".to_string()));
    assert_eq!(absent.pipeline(&cache, "one", "int one;", Descriptor::Own).unwrap(), made);
    for (name, c) in [("one", "int other;"), ("two", "int one;")] {
        let refused = absent.pipeline(&cache, name, c, Descriptor::Own).unwrap_err().to_string();
        assert!(refused.contains("gcc, clang cannot be run (No such file"), "{refused}");
    }
    assert!(absent.preprocess(&cache, &root.join("log")).is_err());
    // Of another version of a compiler, it is compiled again.
    let newer = Compiler { version: Version::Of("newer".to_string()), ..compiler };
    let again = newer.pipeline(&cache, "one", "int one;", Descriptor::Own).unwrap();
    assert_ne!(again, made);
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn switches_that_begin_together_compile_once() {
    let root = std::env::temp_dir().join(format!("bacus-together-test-{}", std::process::id()));
    let cache = Cache::at(&root).unwrap();
    let compiler = recorder(&root);
    let script = fs::read_to_string(root.join("recorder")).unwrap().replace("while", "sleep 0.3\nwhile");
    fs::write(root.join("recorder"), script).unwrap();
    let compile = || compiler.pipeline(&cache, "one", "int one;", Descriptor::Own).unwrap();
    let made: Vec<PathBuf> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(compile)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(made.iter().all(|object| *object == made[0] && object.is_file()));
    assert_eq!(fs::read_to_string(root.join("log")).unwrap().lines().count(), 1);
    fs::remove_dir_all(root).unwrap();
}

/// A command that logs its arguments, and makes empty files.
fn recorder(root: &Path) -> Compiler {
    use std::os::unix::fs::PermissionsExt as _;
    let (command, log) = (root.join("recorder"), root.join("log"));
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo it && exit\necho \"$*\" >> {}\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && : > \"$2\"; shift; done\n",
        log.display()
    );
    fs::write(&command, script).unwrap();
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).unwrap();
    Compiler::find(Some(&command.display().to_string())).unwrap()
}

/// Everything that packets go through, and each in an object of its own; what measures this machine knows nothing of another.
#[test]
fn objects_with_narrower_vectors_are_others() {
    let root = std::env::temp_dir().join(format!("bacus-narrow-test-{}", std::process::id()));
    let cache = Cache::at(&root).unwrap();
    let mut compiler = recorder(&root);
    let by_hand = root.join("by_hand.c");
    let mut made = Vec::new();
    for (bytes, flag) in [(None, None), (Some(32), Some("-mno-avx512f")), (Some(16), Some("-mno-avx2"))] {
        compiler.vector_bytes = bytes;
        fs::write(root.join("log"), "").unwrap();
        made.push(compiler.pipeline(&cache, "one", "", Descriptor::Own).unwrap());
        made.push(compiler.by_hand(&cache, "two", &by_hand, Descriptor::Own, &[]).unwrap());
        match compiler.dpdk_layer(&cache) {
            Err(Failure::NoDpdk) => {}
            layer => made.push(layer.unwrap()),
        }
        let log = fs::read_to_string(root.join("log")).unwrap();
        let lines = || log.lines().map(|line| line.split(' ').find(|word| word.starts_with("-mno-avx")));
        assert!(lines().count() >= 2 && lines().all(|found| found == flag), "{bytes:?}: {log}");
        made.push(compiler.probe(&cache).unwrap());
    }
    let probes = made.iter().filter(|object| object.display().to_string().contains("bacus_probe")).count();
    let different: std::collections::BTreeSet<&PathBuf> = made.iter().collect();
    assert_eq!((probes, different.len()), (3, made.len() - 2), "{made:?}");
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_command_that_is_cancelled_is_ended_with_its_processes() {
    let limit = Limit::of_time(Duration::from_secs(60));
    let is_cancelled = limit.is_cancelled.clone();
    let run = move || output_within(Command::new("sh").args(["-c", "sleep 1236.5 & wait"]), &limit);
    let command = std::thread::spawn(run);
    is_cancelled.store(true, Ordering::Relaxed);
    let failure = command.join().unwrap().unwrap_err();
    assert_eq!((failure.kind(), failure.to_string().as_str()), (io::ErrorKind::Interrupted, "it was cancelled"));
    let sleeping = Command::new("pgrep").args(["-f", "^sleep 1236.5$"]).output().unwrap();
    assert!(!sleeping.status.success(), "the command's processes are left: {sleeping:?}");
}
