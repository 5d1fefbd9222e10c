//! Malformed inputs too large to keep as files. Needs nothing but the standard library, so that any crate's tests can
//! take it in with `#[path]`.

/// A malformed input: its name, its kind (`"xml"`, `"xta"` or `"q"`), its text.
pub type Case = (&'static str, &'static str, String);

const MEGABYTE: usize = 1 << 20;

/// `word` again and again, up to so many bytes.
fn fill(word: &str, bytes: usize) -> String {
    word.repeat(bytes / word.len())
}

/// Numbers that look random and are always the same.
fn noise(bytes: usize) -> impl Iterator<Item = u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..bytes).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    })
}

/// All of them, one after the other, so that they need not all be in memory.
pub fn cases() -> impl Iterator<Item = Case> {
    let printable = |bytes| noise(bytes).map(|b| (b' ' + b % 95) as char).collect::<String>();
    let ten = 10 * MEGABYTE;
    let makers: Vec<Box<dyn FnOnce() -> Case>> = vec![
        Box::new(move || ("junk-one-line", "xta", printable(ten))),
        Box::new(move || ("junk-one-line", "xml", printable(ten))),
        Box::new(move || ("junk-one-line", "q", printable(ten))),
        Box::new(move || {
            ("junk-any-bytes", "xta", String::from_utf8_lossy(&noise(ten).collect::<Vec<_>>()).into_owned())
        }),
        Box::new(move || {
            ("junk-any-bytes", "xml", String::from_utf8_lossy(&noise(ten).collect::<Vec<_>>()).into_owned())
        }),
        Box::new(move || ("nul-bytes", "xta", fill("\0", ten))),
        Box::new(move || ("at-signs", "xta", fill("@ ", ten))),
        Box::new(move || ("words", "xta", fill("hello world ", ten))),
        Box::new(move || ("closing-braces", "xta", fill("}\n", ten))),
        Box::new(move || ("unclosed-comment", "xta", format!("/*{}", fill(" ha", ten)))),
        Box::new(move || ("unclosed-string", "xta", format!("extern A from \"{}", fill("ha", ten)))),
        Box::new(move || ("unclosed-process", "xta", format!("process P() {{{}", fill(" int a;\n", MEGABYTE)))),
        Box::new(move || ("many-bad-lines", "xta", fill("int = 3;\n", ten))),
        Box::new(move || ("one-location-often", "xta", format!("process P() {{ state {}", fill("a,", ten)))),
        Box::new(move || {
            ("edges-in-edges", "xta", format!("process P() {{ state a; init a; trans {}", fill("a -> a { ", ten)))
        }),
        Box::new(move || ("deep-brackets", "xta", format!("int a = {}", fill("(", ten)))),
        Box::new(move || {
            ("deep-brackets-closed", "xta", format!("int a = {}1{};", "(".repeat(MEGABYTE), ")".repeat(MEGABYTE)))
        }),
        Box::new(move || ("deep-nots", "xta", format!("bool a = {}true;", fill("!", ten)))),
        Box::new(move || ("deep-blocks", "xta", format!("void f() {}", fill("{", ten)))),
        Box::new(move || ("deep-ifs", "xta", format!("void f() {{ {}", fill("if (a) ", ten)))),
        Box::new(move || ("deep-indices", "xta", format!("int a = {}", fill("a[", ten)))),
        Box::new(move || ("deep-initialisers", "xta", format!("int a[1] = {}", fill("{", ten)))),
        Box::new(move || ("deep-structs", "xta", fill("struct { ", ten))),
        Box::new(move || ("long-sum", "xta", format!("int a = {}1;", fill("1+", ten)))),
        Box::new(move || ("long-conditional", "xta", format!("int a = {}1;", fill("a?1:", ten)))),
        Box::new(move || ("long-assignment", "xta", format!("void f() {{ {}1; }}", fill("a=", ten)))),
        Box::new(move || ("long-fields", "xta", format!("int a = a{};", fill(".b", ten)))),
        Box::new(move || ("long-number", "xta", format!("int a = {};", fill("9", ten)))),
        Box::new(move || ("long-name", "xta", format!("int {} b;", fill("a", ten)))),
        Box::new(move || {
            let name = fill("a", MEGABYTE);
            (
                "long-locations",
                "xta",
                format!("process {name}() {{ state {name}, {name}; init b{name}; }} system {name}(1);"),
            )
        }),
        Box::new(move || ("deep-elements", "xml", fill("<a>", ten))),
        Box::new(move || {
            ("deep-elements-in-nta", "xml", format!("<nta>{}{}</nta>", "<a>".repeat(100_000), "</a>".repeat(100_000)))
        }),
        Box::new(move || ("many-elements", "xml", format!("<nta>{}</nta>", fill("<a/>", ten)))),
        Box::new(move || {
            ("many-entities", "xml", format!("<nta><declaration>{}</declaration></nta>", fill("&lt;", ten)))
        }),
        Box::new(move || ("long-attribute", "xml", format!("<nta a=\"{}", fill("a", ten)))),
        Box::new(move || {
            ("long-guard", "xml", {
                let guard = fill("n + ", MEGABYTE);
                format!(
                    "<nta><template><name>P</name><location id=\"a\"/><init ref=\"a\"/><transition><source ref=\"a\"/>\
                 <target ref=\"a\"/><label kind=\"guard\">{guard}</label></transition></template></nta>"
                )
            })
        }),
        Box::new(move || ("many-bad-queries", "q", fill("A[] )\n", ten))),
        Box::new(move || ("deep-brackets", "q", format!("E<> {}", fill("(", ten)))),
        Box::new(move || ("never-ending", "q", format!("E<> {}", fill("a and\n", MEGABYTE)))),
    ];
    makers.into_iter().map(|make| make())
}
