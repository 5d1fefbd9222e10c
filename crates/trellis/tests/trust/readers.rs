//! *Reader mutations*: every element, attribute, keyword, name, number and sign of every bundled model is renamed, dropped or written twice,
//! one at a time. The change is refused with a place, or what was read is different (the part was read, and means something),
//! or what was read is the same: then nobody looked at the part, and [`crate::ignored`] must say why that does not matter. Where something is
//! written that means nothing (an unknown element, attribute or keyword), only refusing it or a reason will do.

use std::collections::{BTreeMap, HashMap};

use crate::ignored::{IGNORED, OPEN};
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
    open: usize,
}

/// What is wrong with what became of a change, and whether a reason was needed.
fn judge(file: &File, site: &Site, before: &Read) -> (Read, Option<String>, bool) {
    let after = read(file.language.reader, &file.path, &site.apply(&file.text), &file.beside);
    let listed = || IGNORED.iter().chain(OPEN).any(|i| i.covers(file.language.name, site));
    let (complaint, needed) = match &after {
        Read::Panic(why) => (Some(format!("a panic: {why}")), false),
        Read::Refused(why) => (why.clone(), false),
        Read::Model(_) if after == *before => ((!listed()).then(|| "nobody looks at it".into()), true),
        Read::Model(_) if site.change.is_nonsense() => ((!listed()).then(|| "read as something".into()), true),
        Read::Model(_) => (None, false),
    };
    (after, complaint, needed)
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
        all.retain(|(i, _)| files[*i].language.name == only);
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
    let done = on_all(&all, |(i, site)| judge(&files[*i], site, &before[*i]));
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut findings: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for ((i, site), (after, complaint, needed)) in all.iter().zip(done) {
        let file = &files[*i];
        let count = counts.entry(file.language.name).or_default();
        count.changes += 1;
        match (&complaint, after) {
            (None, Read::Refused(_)) => count.refused += 1,
            (None, _) if needed => {
                let known = IGNORED.iter().any(|i| i.covers(file.language.name, site));
                *(if known { &mut count.listed } else { &mut count.open }) += 1;
            }
            (None, _) => count.different += 1,
            (Some(_), _) => {}
        }
        if let Some(complaint) = complaint {
            let key = format!("{}: {:?} {}: {complaint}", file.language.name, site.change, site.what);
            let example = format!("{}: {}", file.name, site.describe(&file.text));
            findings.entry(key).or_insert((0, example)).0 += 1;
        }
    }
    println!("{} of {total} changes, seed {}", all.len(), seed());
    for (language, c) in &counts {
        println!(
            "  {language}: {} changes, {} refused, {} read differently, {} of no matter, {} known mistakes",
            c.changes, c.refused, c.different, c.listed, c.open
        );
    }
    let shown: Vec<String> = findings.iter().map(|(key, (n, example))| format!("{n} × {key}\n  {example}")).collect();
    assert!(shown.is_empty(), "{} findings:\n{}", shown.len(), shown.join("\n"));
}
