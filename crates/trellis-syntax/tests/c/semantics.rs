//! One-line programs, each about one thing in which C (or GNU C) is particular, with what gcc's binary shows: does it reach the
//! error? What is read must show the same; what is not read is refused. `semantics.txt` has a line for each: what gcc shows,
//! whether it is read, and the program (`¶` is the end of a line).
//!
//! `TRELLIS_C_PROGRAMS=FOLDER` runs the programs of a folder with an `EXPECTED.tsv` (name and verdict) too, and
//! `TRELLIS_C_LIST=FILE` prints what becomes of a list of programs.

use std::path::Path;
use std::process::Command;

use trellis_model::cfa::Kind;
use trellis_syntax::c::Ints;

use crate::run::{execute, has_gcc, read};

const TABLE: &str = include_str!("semantics.txt");

/// What a program shows: `SAFE`, `UNSAFE`, `refused`, or `stuck` (a run that ends nowhere, as undefined behaviour does).
fn shown(text: &str) -> (&'static str, String) {
    match read(text, Ints::Wrap) {
        Err(why) => ("refused", why),
        Ok(built) => (
            match execute(&built.cfa, &[]).0 {
                Kind::Error => "UNSAFE",
                Kind::Final => "SAFE",
                Kind::Plain => "stuck",
            },
            String::new(),
        ),
    }
}

/// The program, with `A(c)` as what it stands for: most need no preprocessor then, which takes most of the time.
fn whole(program: &str) -> String {
    let mut text = String::from("void reach_error(void);\n");
    let lines = program.replace('¶', "\n");
    let mut rest = &lines[..];
    while let Some(at) = rest.find("A(") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        text.push_str(before);
        if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            text.push_str("A(");
            rest = after;
            continue;
        }
        let mut depth = 1;
        let end = after.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let end = end.expect("balanced");
        text.push_str(&format!("if(!({})) reach_error();", &after[..end]));
        rest = &after[end + 1..];
    }
    text + rest + "\n"
}

#[test]
fn one_line_programs() {
    let mut wrong = vec![];
    for line in TABLE.lines().filter(|l| !l.starts_with('#')) {
        let mut parts = line.splitn(3, '\t');
        let (Some(gcc), Some(how), Some(program)) = (parts.next(), parts.next(), parts.next()) else {
            panic!("three columns: {line}");
        };
        let (found, why) = shown(&whole(program));
        let expected = if how == "read" { gcc } else { "refused" };
        if found != expected {
            wrong.push(format!("{found}, not {expected}: {program}\n{why}"));
        }
    }
    assert!(wrong.is_empty(), "{} programs\n{}", wrong.len(), wrong.join("\n"));
}

/// The first column is what gcc shows.
#[test]
fn gcc_agrees_with_the_table() {
    if !has_gcc() {
        eprintln!("skipped: there is no gcc");
        return;
    }
    let folder = std::env::temp_dir().join(format!("trellis-c-semantics-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    std::fs::write(folder.join("error.c"), "void _Exit(int); void reach_error(void) { _Exit(77); }\n")
        .expect("written");
    // Some of them: to compile all takes a minute.
    for (n, line) in TABLE.lines().filter(|l| !l.starts_with('#')).enumerate().filter(|(n, _)| n % 40 == 0) {
        let mut parts = line.splitn(3, '\t');
        let (Some(gcc), Some(_), Some(program)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let (file, binary) = (folder.join(format!("{n}.c")), folder.join(format!("{n}")));
        std::fs::write(&file, whole(program)).expect("written");
        let mut build = Command::new("gcc");
        build.args(["-w", "-std=gnu11", "-o"]).arg(&binary).arg(&file).arg(folder.join("error.c"));
        let found = match build.output().expect("gcc runs").status.success() {
            false => "NONE",
            true => match Command::new(&binary).output().expect("it runs").status.code() {
                Some(77) => "UNSAFE",
                Some(_) => "SAFE",
                None => "NONE",
            },
        };
        assert_eq!(found, gcc, "{program}");
    }
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn programs_of_a_folder() {
    if let Some(list) = std::env::var_os("TRELLIS_C_LIST") {
        for line in std::fs::read_to_string(list).expect("a list").lines() {
            let Some((gcc, program)) = line.split_once('\t') else { continue };
            let (found, why) = shown(&whole(program));
            let why = why.lines().next().unwrap_or_default().to_string();
            println!("{gcc}\t{found}\t{program}\t{why}");
        }
    }
    let Some(folder) = std::env::var_os("TRELLIS_C_PROGRAMS") else {
        eprintln!("skipped: TRELLIS_C_PROGRAMS is not set");
        return;
    };
    let folder = Path::new(&folder);
    let (mut agree, mut refused, mut wrong) = (0, 0, vec![]);
    for line in std::fs::read_to_string(folder.join("EXPECTED.tsv")).expect("a table").lines() {
        let Some((name, gcc)) = line.split_once('\t').filter(|_| !line.starts_with('#')) else { continue };
        let (found, why) = shown(&std::fs::read_to_string(folder.join(name)).expect("a program"));
        match found {
            "refused" => {
                refused += 1;
                println!("{name}: {}", why.lines().next().unwrap_or_default());
            }
            found if found == gcc => agree += 1,
            found => wrong.push(format!("{name}: {found}, gcc: {gcc}")),
        }
    }
    println!("{agree} agree, {refused} refused, {} differ", wrong.len());
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The parser would take a week for some of these.
#[test]
fn texts_that_take_the_parser_exponential_time_are_refused() {
    let signs = "-".repeat(80);
    let sizes = "sizeof(int[".repeat(40);
    for text in [
        format!("int x = {signs}"),
        format!("int main(){{ int x; int n=0; {signs} int n; return 0;}}"),
        format!("int main(){{ int x; return {}x; }}", "++".repeat(60)),
        format!("int main(){{ int x; return {} int; }}", "--!".repeat(60)),
        format!("int x = {sizes}1{};", "])".repeat(40)),
        format!("int main() {{ return {}1; }}", "(".repeat(300)),
    ] {
        assert!(read(&text, Ints::Wrap).is_err(), "{text}");
    }
}

#[test]
fn every_read_of_a_volatile_object_may_give_another_value() {
    for text in [
        "volatile int r; int main(void) { int a = r; int b = r; if (a != b) reach_error(); }",
        "typedef volatile int v; v r; int main(void) { if (r != r) reach_error(); }",
        "struct { volatile int a; } s; int main(void) { s.a = 1; if (s.a != 1) reach_error(); }",
    ] {
        let built = read(&format!("void reach_error(void); {text}"), Ints::Wrap).expect(text);
        assert_eq!(execute(&built.cfa, &[1, 2, 3, 4]).0, Kind::Error, "{text}");
    }
}
