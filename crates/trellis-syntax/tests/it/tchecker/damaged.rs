//! Models that were damaged at random, and large junk: there is an answer, soon, and no panic.

use std::time::{Duration, Instant};

use super::asked;

/// Everything of the language in a few lines.
const WHOLE: &str = "# c\nsystem:s{}\nevent:e\nevent:f\nint:1:0:9:3:i\nint:4:-1:9:1:a\nclock:1:x\nclock:3:z\nprocess:P\n\
    location:P:l{initial: : invariant: x <= 3 && i < 9 : labels: k, m}\nlocation:P:m{committed: : urgent:}\n\
    edge:P:l:m:e{provided: !(x - z[i % 3] < 2) && 1 <= i < a[2] : do: z[i] = 0; x = z[1]; if i then i = 0 else nop end}\n\
    edge:P:m:l:f{do: while i > 0 do local k = (if i > 2 then 2 else 1); i = i - k end; local t[2]; t[0] = -i}\n\
    process:Q\nlocation:Q:l{initial:}\nedge:Q:l:l:e{do: i = a[i] * 2 / 3}\nsync:Q@e:P@e?\n";

#[test]
fn damage_is_survived() {
    assert!(asked(WHOLE, &["k,m"], "A[] P.l or x > 3 && i < 4\nsup: z[1]").is_ok());
    let mut random = 11u64;
    let mut draw = move |n: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % n as u64) as usize
    };
    let pieces = [
        ":", "{", "}", "\n", "#", "@", "?", "(", ")", "[", "]", "-", "&&", "x", "i", "a", "z", "9", "if ", " end", "é",
    ];
    for _ in 0..2000 {
        let mut text = WHOLE.to_string();
        for _ in 0..=draw(3) {
            let at = (draw(text.len())..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(0);
            match draw(3) {
                0 => text.insert_str(at, pieces[draw(pieces.len())]),
                1 if at < text.len() => {
                    text.remove(at);
                }
                _ => text.truncate(at),
            }
            if text.is_empty() {
                break;
            }
        }
        let _ = asked(&text, &["k"], "A[] P.l or x > 3");
    }
}

#[test]
fn large_junk_is_refused_soon() {
    let n = 2_000_000;
    let start = Instant::now();
    for junk in [
        ":".repeat(n),
        "{".repeat(n),
        "\n".repeat(n),
        "a".repeat(n),
        "event:e\n".repeat(n / 8),
        format!("event:e{{{}", "a:".repeat(n / 2)),
        format!("event:e\nprocess:P\nlocation:P:l{{invariant: {}}}\n", "!".repeat(n)),
        format!("event:e\nprocess:P\nlocation:P:l{{invariant: {}}}\n", "-".repeat(n)),
        format!("event:e\nprocess:P\nlocation:P:l{{invariant: {}}}\n", "if ".repeat(n / 3)),
        format!("event:e\nprocess:P\nlocation:P:l{{labels: {}}}\n", ",".repeat(n)),
        format!("event:e\nprocess:P\nlocation:P:l{{initial:}}\nedge:P:l:l:e{{do: {}}}\n", "while 1 do ".repeat(n / 11)),
    ] {
        assert!(asked(&format!("system:s\n{junk}"), &[], "").is_err(), "{}", &junk[..40]);
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
