//! How deep a JSON text is nested. Its readers recurse, so they ask first: a text of others must not overflow their stacks.

/// Levels that are read. p4c's expressions have over a hundred; BMv2's own parser ends here.
pub const DEEPEST: usize = 1000;

/// Whether a text is nested deeper than any that is read. Of a text that is no JSON nothing is known.
pub fn is_too_deep(text: &str) -> bool {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => depth += 1,
            b']' | b'}' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_counted_outside_of_strings() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(!is_too_deep(&nested(DEEPEST)));
        assert!(is_too_deep(&nested(DEEPEST + 1)));
        assert!(is_too_deep(&r#"{"a":"#.repeat(DEEPEST + 1)));
        assert!(!is_too_deep(&nested(1).repeat(DEEPEST + 1)));
        assert!(!is_too_deep(&format!(r#"["\"{}"]"#, nested(DEEPEST))));
        assert!(is_too_deep(&format!(r#"["\\",{}"#, nested(DEEPEST))));
    }
}
