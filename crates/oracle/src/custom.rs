//! What the externs of random programs do, for the compiler's side: as functions of the interpreter, and in C for native code.
//!
//! A program names each extern with a number behind it, `Mixer12`, which counts as no part of the name here.

use hlir::Program;
use interp::externs::Externs;

/// The source of the functions with the number `#n`.
const SOURCE: &str = "
#include <stdint.h>
#include <stdlib.h>
struct Mixer#n { uint32_t state; };
struct Mixer#n *Mixer#n_new(uint64_t start) {
    struct Mixer#n *mixer = calloc(1, sizeof(*mixer));
    if (mixer != NULL) mixer->state = (uint32_t) start;
    return mixer;
}
void Mixer#n_delete(struct Mixer#n *mixer) { free(mixer); }
uint64_t Mixer#n_mix_3(struct Mixer#n *mixer, uint64_t a, uint64_t *b, uint64_t *c) {
    mixer->state += (uint32_t) a;
    *c = mixer->state & 0xff;
    uint64_t result = *b + mixer->state;
    *b ^= a;
    return result;
}
uint64_t Mixer#n_mix_1(struct Mixer#n *mixer, uint64_t a) {
    mixer->state = mixer->state * 3 + (uint32_t) a;
    return mixer->state;
}
uint64_t Mixer#n_odd(struct Mixer#n *mixer) { return mixer->state & 1; }
void Mixer#n_mark(struct Mixer#n *mixer, uint64_t *p, uint64_t *q) { *p = mixer->state & 0xff; *q = 7; }
uint64_t fold#n(uint64_t x, uint64_t y, const uint64_t *wide) { return x + y + wide[0] + wide[1]; }
void widen#n(uint64_t *wide, uint64_t flip) { wide[0] += flip; wide[1] ^= 5; }
void pair#n(uint64_t a, uint64_t *x, uint64_t *y) { *x = (a + 1) & 0xff; *y = (a * 257) & 0xffff; }
uint64_t number#n(uint64_t error, uint64_t colour) { return error * 16 + colour; }
uint64_t sum#n(uint64_t p, uint64_t q) { return p + 2 * q; }
void heads#n(uint64_t a, uint64_t *p, uint64_t *q) { *p = a; *q = (a + 1) & 0xff; }
";

/// The C code that a program needs, if it has externs of its own.
pub fn source(program: &str) -> Option<String> {
    let parts: Vec<&str> = program.split("extern Mixer").skip(1).collect();
    let number = |part: &&str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let text: String = parts.iter().map(|part| SOURCE.replace("#n", &number(part))).collect();
    (!text.is_empty()).then_some(text)
}

/// The objects of a program, by their places in `hlir::externs::objects`.
pub struct Custom {
    starts: Vec<u32>,
    states: Vec<u32>,
}

impl Custom {
    pub fn new(program: &Program) -> Custom {
        let start = |id: &hlir::ExternId| {
            let object = program.externs[*id].object.as_ref();
            let given = object.and_then(|object| object.arguments.first());
            given.map_or(0, |(start, _)| start.iter_u32_digits().next().unwrap_or(0))
        };
        let starts: Vec<u32> = hlir::externs::objects(program).iter().map(start).collect();
        Custom { states: starts.clone(), starts }
    }
}

impl Externs for Custom {
    fn reset(&mut self) -> Result<(), String> {
        self.states.clone_from(&self.starts);
        Ok(())
    }

    fn call(&mut self, function: &str, object: Option<usize>, _: Option<&mut Vec<u8>>, limbs: &mut [u64]) -> bool {
        let letters: String = function.chars().take_while(char::is_ascii_alphabetic).collect();
        let method = function.split_once('_').map_or("", |(_, method)| method);
        let mut none = 0;
        let state = object.and_then(|object| self.states.get_mut(object)).unwrap_or(&mut none);
        match (letters.as_str(), method, limbs) {
            ("Mixer", "mix_3", [a, b, c, result]) => {
                *state = state.wrapping_add(*a as u32);
                *c = u64::from(*state & 0xff);
                *result = b.wrapping_add(u64::from(*state));
                *b ^= *a;
            }
            ("Mixer", "mix_1", [a, result]) => {
                *state = state.wrapping_mul(3).wrapping_add(*a as u32);
                *result = u64::from(*state);
            }
            ("Mixer", "odd", [result]) => *result = u64::from(*state & 1),
            ("Mixer", "mark", [p, q]) => (*p, *q) = (u64::from(*state & 0xff), 7),
            ("fold", "", [x, y, low, high, result]) => {
                *result = x.wrapping_add(*y).wrapping_add(*low).wrapping_add(*high);
            }
            ("widen", "", [low, high, flip]) => (*low, *high) = (low.wrapping_add(*flip), *high ^ 5),
            ("pair", "", [a, x, y]) => (*x, *y) = ((*a + 1) & 0xff, (*a * 257) & 0xffff),
            ("sum", "", [p, q, result]) => *result = *p + 2 * *q,
            ("heads", "", [a, p, q]) => (*p, *q) = (*a, (*a + 1) & 0xff),
            ("number", "", [error, colour, result]) => *result = *error * 16 + *colour,
            _ => return false,
        }
        true
    }
}
