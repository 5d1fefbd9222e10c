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

/// `word` with one number after the other put in for `#`, up to so many bytes.
fn numbered(word: &str, bytes: usize) -> String {
    let mut text = String::new();
    for n in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&word.replace('#', &n.to_string()));
    }
    text
}

/// Those that are right in their syntax and wrong in what they say.
pub fn mistakes() -> impl Iterator<Item = Case> {
    let process = |label: &str| format!("process P() {{ state A; init A; trans A -> A {{ {label} }}; }}\nsystem P;\n");
    let empty = "process P() { state A; init A; }\n";
    let two = 2 * MEGABYTE;
    let makers: Vec<Box<dyn FnOnce() -> Case>> = vec![
        Box::new(move || ("unknown-names", "xta", numbered("int a# = b#;\n", two) + &process(""))),
        Box::new(move || {
            ("unknown-names-in-guard", "xta", process(&format!("guard {}true;", numbered("x# == # && ", two))))
        }),
        Box::new(move || {
            ("unknown-names-in-functions", "xta", numbered("int f#(int x) { return x + y; }\n", two) + &process(""))
        }),
        Box::new(move || {
            ("unknown-names-in-edges", "xta", {
                let edges = numbered("A -> A { guard x# > 1; assign y# = 2; },\n", two);
                format!("process P() {{ state A; init A; trans\n{edges} A -> A {{ }}; }}\nsystem P;\n")
            })
        }),
        Box::new(move || ("unknown-names-in-queries", "q", numbered("A[] x# == 0\n", two))),
        Box::new(move || ("unknown-templates", "xta", format!("{empty}system {}P;\n", numbered("P#, ", two)))),
        Box::new(move || ("one-process-often", "xta", format!("{empty}system {}P;\n", fill("P, ", two)))),
        Box::new(move || {
            ("many-processes", "xta", {
                let templates = numbered("process P#() { state A; init A; }\n", two);
                format!("{templates}{empty}system {}P;\n", (0..30_000).map(|n| format!("P{n}, ")).collect::<String>())
            })
        }),
        Box::new(move || ("many-variables", "xta", numbered("int a#;\n", 2 * two) + &process(""))),
        Box::new(move || ("many-values", "xta", format!("int a[3] = {{ {}1 }};\n", fill("1, ", two)) + &process(""))),
        Box::new(move || {
            (
                "many-selects",
                "xta",
                process(&format!("select {}j : int[0,0]; guard y;", numbered("i# : int[0,0], ", two))),
            )
        }),
        Box::new(move || {
            (
                "many-parameters",
                "xta",
                format!("int f({}int b) {{ return 1; }}\n", numbered("int a#, ", two)) + &process("guard f(1);"),
            )
        }),
        Box::new(move || ("many-updates", "xta", process(&format!("assign {}y = 1;", fill("x = 1, ", two))))),
        Box::new(move || {
            (
                "many-statements",
                "xta",
                format!("int x;\nvoid f() {{ {} y = 1; }}\n", fill("x = 1; ", two)) + &process(""),
            )
        }),
        Box::new(move || {
            (
                "many-elements-of-a-lattice",
                "xta",
                format!("extern H = Hasse({}a < b);\nH h;\n", numbered("a# < b#, ", two)) + &process(""),
            )
        }),
        Box::new(move || {
            ("long-chain-of-instances", "xta", {
                let chain: String = (0..80_000).map(|n| format!("Q{} = Q{n}();\n", n + 1)).collect();
                format!("process Q0() {{ state A; init A; }}\n{chain}system Q80000, R;\n")
            })
        }),
        Box::new(move || ("long-unknown-name", "xta", process(&format!("guard {};", fill("a", two))))),
        Box::new(move || {
            (
                "long-unknown-names",
                "xta",
                format!("int {0}b;\nint {0}c;\n", fill("a", two)) + &process(&format!("guard {}d;", fill("a", two))),
            )
        }),
    ];
    makers.into_iter().map(|make| make())
}
