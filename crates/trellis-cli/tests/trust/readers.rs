//! *Reader mutations*: every element, attribute, keyword, name, number and sign of every bundled model is renamed, dropped or written twice,
//! one at a time. The change is refused with a place, or what was read is different (the part was read, and means something),
//! or what was read is the same: then nobody looked at the part, and [`crate::ignored`] must say why that does not matter. Where something is
//! written that means nothing (an unknown element, attribute or keyword), only refusing it or a reason will do. Of C gcc is asked instead,
//! where it is installed ([`crate::gcc`]).

use std::collections::{BTreeMap, HashMap};

use crate::gcc;
use crate::ignored::IGNORED;
use crate::languages::{File, files};
use crate::read::{Read, read};
use crate::sites::{Change, Site};
use crate::{Random, on_all, runs, seed};

#[derive(Default, Clone)]
struct Count {
    changes: usize,
    refused: usize,
    different: usize,
    listed: usize,
}

/// What became of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Refused,
    Different,
    /// Nobody looks at it, and there is a reason.
    NoMatter,
}

/// What became of a change, or what is wrong with it. `code` is what gcc makes of the unchanged program, if it is C.
fn judge(file: &File, site: &Site, before: &Read, code: Option<&str>) -> Result<End, String> {
    let text = site.apply(&file.text);
    let after = read(file.language.reader, &file.path, &text, &file.beside);
    let listed = || IGNORED.iter().any(|i| i.covers(file.language.name, site));
    let no_matter = |complaint: &str| if listed() { Ok(End::NoMatter) } else { Err(complaint.to_string()) };
    match &after {
        Read::Panic(why) => Err(format!("a panic: {why}")),
        Read::Refused(Some(why)) => Err(why.clone()),
        Read::Refused(None) => Ok(End::Refused),
        Read::Model(_) if code.is_some() => match gcc::assembly(&file.path, &text) {
            Err(_) => no_matter("gcc refuses it"),
            Ok(_) if after != *before => Ok(End::Different),
            Ok(other) if Some(&*other) == code => Ok(End::NoMatter),
            Ok(_) => no_matter("nobody looks at it, and gcc does"),
        },
        Read::Model(_) if after == *before => no_matter("nobody looks at it"),
        Read::Model(_) if site.change.is_nonsense() => no_matter("read as something"),
        Read::Model(_) => Ok(End::Different),
    }
}

#[test]
fn every_part_of_a_model_is_read_or_refused() {
    let files = files();
    let before: Vec<Read> = on_all(&files, |f| read(f.language.reader, &f.path, &f.text, &f.beside));
    let again: Vec<Read> = on_all(&files, |f| read(f.language.reader, &f.path, &f.text, &f.beside));
    for ((f, b), again) in files.iter().zip(&before).zip(&again) {
        assert!(b == again, "{}: read twice, not the same\n{b:?}\n{again:?}", f.name);
        assert!(matches!(b, Read::Model(_)), "{} ({}): {b:?}", f.name, f.language.name);
    }
    let mut all: Vec<(usize, Site)> = vec![];
    for (i, file) in files.iter().enumerate() {
        all.extend(file.sites().into_iter().map(|site| (i, site)));
    }
    if let Ok(only) = std::env::var("TRELLIS_ONLY") {
        all.retain(|(i, _)| only.split(',').any(|name| files[*i].language.name == name));
    }
    let total = all.len();
    Random(seed()).shuffle(&mut all);
    // What is done to a word for the first time comes before what is done to it again, so that a few show much.
    let mut seen: HashMap<(&str, Change, String), usize> = HashMap::new();
    let mut ranked: Vec<(usize, usize, Site)> = vec![];
    for (i, site) in all {
        let again = seen.entry((files[i].language.name, site.change, site.what.clone())).or_default();
        ranked.push((*again, i, site));
        *again += 1;
    }
    ranked.sort_by_key(|(again, ..)| *again);
    let mut all: Vec<(usize, Site)> = ranked.into_iter().map(|(_, i, site)| (i, site)).collect();
    all.truncate(runs(4000));
    let code: Vec<Option<String>> = on_all(&files, |f| {
        let asked = f.language.name == "C" && gcc::is_here();
        asked.then(|| gcc::assembly(&f.path, &f.text).unwrap_or_else(|why| panic!("{}: {why}", f.name)))
    });
    let done = on_all(&all, |(i, site)| judge(&files[*i], site, &before[*i], code[*i].as_deref()));
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut findings: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for ((i, site), end) in all.iter().zip(done) {
        let file = &files[*i];
        let count = counts.entry(file.language.name).or_default();
        count.changes += 1;
        match end {
            Ok(End::Refused) => count.refused += 1,
            Ok(End::Different) => count.different += 1,
            Ok(End::NoMatter) => count.listed += 1,
            Err(complaint) => {
                let key = format!("{}: {:?} {}: {complaint}", file.language.name, site.change, site.what);
                let example = format!("{}: {}", file.name, site.describe(&file.text));
                findings.entry(key).or_insert((0, example)).0 += 1;
            }
        }
    }
    println!("{} of {total} changes, seed {}", all.len(), seed());
    for (language, c) in &counts {
        println!(
            "  {language}: {} changes, {} refused, {} read differently, {} of no matter",
            c.changes, c.refused, c.different, c.listed
        );
    }
    let shown: Vec<String> = findings.iter().map(|(key, (n, example))| format!("{n} × {key}\n  {example}")).collect();
    assert!(shown.is_empty(), "{} findings:\n{}", shown.len(), shown.join("\n"));
}
