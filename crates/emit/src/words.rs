//! Names that a C program has before its first declaration: C's keywords, and what the headers declare that generated code includes.
//!
//! Rules cover names by the thousand (macros, types, DPDK); the list has the others. The test of names asks the C compilers of this machine whether any is
//! missing.

/// Keywords of C up to C23, functions of its library, and what DPDK's headers bring along. Sorted.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a64l", "abort", "abs", "alignas", "aligned_alloc", "alignof", "alloca", "arc4random", "arc4random_buf",
    "arc4random_uniform", "asctime", "asm", "at_quick_exit", "atexit", "atof", "atoi", "atol", "atoll", "auto",
    "basename", "bcmp", "bcopy", "be16toh", "be32toh", "be64toh", "bit_ceil", "bit_floor", "bit_width", "bool",
    "break", "bsearch", "bzero", "call_once", "calloc", "canonicalize_file_name", "case", "ceil", "char",
    "clearenv", "clock", "const", "constexpr", "container_of", "continue", "ctime", "default", "difftime", "div",
    "do", "double", "drand48", "drand48_r", "dup2", "ecvt", "ecvt_r", "else", "enum", "environ", "erand48",
    "erand48_r", "errno", "execve", "exit", "explicit_bzero", "extern", "fabs", "false", "fclose", "fcvt", "fcvt_r",
    "fd_mask", "fd_set", "ffs", "ffsl", "ffsll", "float", "floorf", "fmod", "fopen", "for", "fork", "fprintf",
    "free", "free_aligned_sized", "free_sized", "gcvt", "getenv", "getloadavg", "getpid", "getpt", "getsubopt",
    "getuid", "gmtime", "goto", "grantpt", "htobe16", "htobe32", "htobe64", "htole16", "htole32", "htole64",
    "htonl", "htons", "i386", "if", "index", "initstate", "initstate_r", "inline", "int", "isalnum", "isalpha",
    "isblank", "iscntrl", "isdigit", "isgraph", "isinf", "islower", "isnan", "isprint", "ispunct", "isspace",
    "isupper", "isxdigit", "jrand48", "jrand48_r", "l64a", "labs", "lcong48", "lcong48_r", "ldiv", "le16toh",
    "le32toh", "le64toh", "lgamma", "linux", "llabs", "lldiv", "localtime", "log", "long", "lrand48", "lrand48_r",
    "lseek", "main", "makedev", "malloc", "mblen", "mbstowcs", "mbtowc", "memalignment", "memccpy", "memchr",
    "memcmp", "memcpy", "memfrob", "memmem", "memmove", "mempcpy", "memrchr", "memset", "memset_explicit",
    "mkdtemp", "mkostemp", "mkostemps", "mkstemp", "mkstemps", "mkstemps64", "mktemp", "mktime", "mrand48",
    "mrand48_r", "noreturn", "nrand48", "nrand48_r", "ntohl", "ntohs", "nullptr", "offsetof", "on_exit",
    "once_flag", "perror", "posix_memalign", "printf", "pselect", "ptsname", "ptsname_r", "putchar", "putenv",
    "puts", "qecvt", "qecvt_r", "qfcvt", "qfcvt_r", "qgcvt", "qsort", "qsort_r", "quick_exit", "rand", "rand_r",
    "random", "random_r", "rawmemchr", "read", "realloc", "reallocarray", "realpath", "register", "remove",
    "restrict", "return", "rindex", "rpmatch", "sched_get_priority_max", "sched_get_priority_min", "sched_getparam",
    "sched_getscheduler", "sched_priority", "sched_rr_get_interval", "sched_setparam", "sched_setscheduler",
    "sched_yield", "secure_getenv", "seed48", "seed48_r", "select", "setenv", "setstate", "setstate_r", "short",
    "sigabbrev_np", "sigdescr_np", "signal", "signbit", "signed", "sizeof", "snprintf", "sprintf", "sqrt", "srand",
    "srand48", "srand48_r", "srandom", "srandom_r", "static", "static_assert", "stderr", "stdin", "stdout",
    "stpcpy", "stpncpy", "strcasecmp", "strcasecmp_l", "strcasestr", "strcat", "strchr", "strchrnul", "strcmp",
    "strcoll", "strcoll_l", "strcpy", "strcspn", "strdup", "strerror", "strerror_l", "strerror_r",
    "strerrordesc_np", "strerrorname_np", "strfrom", "strfromd", "strfromf", "strfroml", "strfry", "strftime",
    "strlcat", "strlcpy", "strlen", "strncasecmp", "strncasecmp_l", "strncat", "strncmp", "strncpy", "strndup",
    "strnlen", "strpbrk", "strrchr", "strsep", "strsignal", "strspn", "strstr", "strtod", "strtod_l", "strtof",
    "strtof_l", "strtok", "strtok_r", "strtol", "strtol_l", "strtold", "strtold_l", "strtoll", "strtoq", "strtoul",
    "strtoul_l", "strtoull", "strtouq", "struct", "strverscmp", "strxfrm", "strxfrm_l", "switch", "system",
    "thread_local", "time", "timespec_get", "timespec_getres", "tolower", "toupper", "true", "typedef", "typeof",
    "typeof_unqual", "u_char", "u_int", "u_long", "u_short", "uint", "ulong", "union", "unix", "unlink", "unlockpt",
    "unsetenv", "unsigned", "ushort", "usleep", "valloc", "void", "volatile", "wait3", "wait4", "waitpid",
    "wcstombs", "wctomb", "while", "write",
];

/// Whether a name is one of C's own, so that nothing of a program can have it.
pub fn is_word(name: &str) -> bool {
    WORDS.binary_search(&name).is_ok() || is_type(name)
}

/// POSIX keeps all names for types that end so.
fn is_type(name: &str) -> bool {
    name.ends_with("_t")
}

/// Whether a name looks like a macro of C's library, of DPDK or of the runtime: it has capitals alone, as `SIZE_MAX`.
pub fn is_macro(name: &str) -> bool {
    name.len() > 1 && !name.contains(|letter: char| letter.is_ascii_lowercase())
}

/// Whether a name begins as those of DPDK do.
pub fn is_of_dpdk(name: &str) -> bool {
    name.starts_with("rte_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_to_be_found() {
        assert!(WORDS.is_sorted());
        for word in ["signed", "strlen", "qsort", "labs", "register", "size_t", "linux", "nullptr"] {
            assert!(is_word(word), "{word}");
        }
        assert!(!is_word("port") && !is_word("forward"));
    }
}
