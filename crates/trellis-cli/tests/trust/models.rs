//! *Model mutations*: a model is changed so that it is read as another model, and the evidence about the old one is held against it. Evidence is
//! bound to its model by a hash, so it is rejected as it is. With the hash of the changed model put in, it is accepted only if
//! its claim is true of that model too: `check` must come to the same verdict. And nothing may break on the way.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::cases::{Ready, ready};
use crate::languages::{File, files};
use crate::read::{Read, read};
use crate::sites::Site;
use crate::{Random, on_all, runs, seed};

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The evidence is not about this model.
    Rejected,
    /// What is claimed is true of this model too.
    StillTrue,
    /// Accepted, and `check` does not know.
    Unknown,
}

/// A change after which the file is another model, if a few attempts find one.
fn another(file: &File, sites: &[Site], before: &Read, random: &mut Random) -> Option<(Site, String)> {
    (0..200).find_map(|_| {
        let site = &sites[random.below(sites.len())];
        let text = site.apply(&file.text);
        let after = read(file.language.reader, &file.path, &text, &file.beside);
        (matches!(after, Read::Model(_)) && after != *before).then(|| (site.clone(), text))
    })
}

fn judge(case: &Ready, file: &File, text: &str, ask: bool, folder: &Path) -> Result<End, String> {
    std::fs::create_dir_all(folder).expect("a folder");
    for entry in std::fs::read_dir(&case.folder).expect("a folder").filter_map(Result::ok) {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "lua" || e == "q" || e == "prop" || e == "hoa") {
            std::fs::copy(&path, folder.join(entry.file_name())).expect("a copy");
        }
    }
    std::fs::write(folder.join(&case.file), text).expect("writable");
    let evidence = folder.join("evidence.json");
    let (old, new) = (hash(&file.text), hash(text));
    let bound = case.text.contains(&old);
    if bound {
        std::fs::write(&evidence, &case.text).expect("writable");
        let answer = case.certify(folder, &evidence);
        if let Some(why) = answer.broken() {
            return Err(why);
        }
        if answer.code == Some(0) {
            return Err(format!("accepted with the hash of another model: {}", answer.stdout.trim()));
        }
    }
    std::fs::write(&evidence, case.text.replace(&old, &new)).expect("writable");
    let answer = case.certify(folder, &evidence);
    if let Some(why) = answer.broken() {
        return Err(why);
    }
    let accepted = answer.code == Some(0);
    if !accepted && !ask {
        return Ok(End::Rejected);
    }
    let (verdict, checked) = case.verdict(folder, &[]);
    if let Some(why) = checked.broken() {
        return Err(format!("check: {why}"));
    }
    match verdict {
        _ if !accepted => Ok(End::Rejected),
        None => Ok(End::Unknown),
        Some(v) if v == case.verdict => Ok(End::StillTrue),
        Some(v) => Err(format!("check says {v}, and accepted is: {}", answer.stdout.trim())),
    }
}

#[test]
fn evidence_about_a_changed_model_is_rejected_or_true() {
    let (cases, files) = (ready(), files());
    let by_name: HashMap<&str, &File> = files.iter().map(|f| (f.name.as_str(), f)).collect();
    let models: Vec<(&File, Vec<Site>, Read)> = on_all(&cases, |case| {
        let file = by_name[case.case.model];
        (file, file.sites(), read(file.language.reader, &file.path, &file.text, &file.beside))
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let numbers: Vec<usize> = (0..runs(250)).collect();
    let done = on_all(&numbers, |&n| {
        let mut random = Random(seed().wrapping_mul(1 << 32).wrapping_add(n as u64));
        let (case, (file, sites, before)) = (&cases[n % cases.len()], &models[n % cases.len()]);
        let (site, text) = another(file, sites, before, &mut random)?;
        let here = folder.path().join(n.to_string());
        let end = judge(case, file, &text, random.below(4) == 0, &here);
        let _ = std::fs::remove_dir_all(&here);
        Some((end, site))
    });
    let mut counts: BTreeMap<End, usize> = BTreeMap::new();
    let mut findings: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (n, (end, site)) in done.into_iter().enumerate().filter_map(|(n, d)| Some((n, d?))) {
        let (case, (file, ..)) = (&cases[n % cases.len()], &models[n % cases.len()]);
        match end {
            Ok(end) => *counts.entry(end).or_default() += 1,
            Err(why) => {
                let key =
                    format!("{} {:?}: {}", case.case.model, case.case.options, why.lines().next().unwrap_or_default());
                let example = format!("change {n}: {}\n    {why}", site.describe(&file.text));
                findings.entry(key).or_insert((0, example)).0 += 1;
            }
        }
    }
    println!("models: {} changes, seed {}: {counts:?}", counts.values().sum::<usize>() + findings.len(), seed());
    let shown: Vec<String> = findings.iter().map(|(key, (n, example))| format!("{n} × {key}\n  {example}")).collect();
    assert!(shown.is_empty(), "{} findings:\n{}", shown.len(), shown.join("\n"));
}
