//! Which files belong together: imports, and what names mean across files.

use std::path::{Path, PathBuf};

use super::ast::{Component, Interface, Name, Package};
use super::parser::Parser;
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::text::errors::closest;

/// So many files are looked at to find a package by its name.
const MAX_LOOKED: usize = 2_000;
/// So many files may belong together.
const MAX_FILES: usize = 500;

/// A file that was read, not yet parsed.
pub struct Read {
    pub id: SourceId,
    path: PathBuf,
    imports: Vec<usize>,
}

/// A package.
pub struct File<'a> {
    pub package: Package<'a>,
    pub imports: Vec<usize>,
}

/// Reads a file and all that it needs; it is the first. A file that is no package (a property, a trace) has imports, too.
pub fn read(sources: &mut Sources, id: SourceId) -> Result<Vec<Read>, Vec<Diagnostic>> {
    let path = PathBuf::from(&sources.get(id).name);
    let mut files = vec![Read { id, path, imports: vec![] }];
    let mut at = 0;
    while at < files.len() {
        let imports = {
            let mut parser = Parser::new(sources, files[at].id);
            let read = if parser.is("package") { parser.header().map(|_| ()) } else { Ok(()) };
            match read.and_then(|()| parser.imports()) {
                Ok(imports) => imports,
                Err(_) => return Err(parser.finish()),
            }
        };
        for (text, span) in imports {
            let Some(path) = find(&files[at].path, &text) else {
                let message = format!("there is no file or package `{text}`");
                let help = "paths start at the file's folder or at one above it";
                return Err(vec![Diagnostic::error(span, message).help(help)]);
            };
            let known = files.iter().position(|f| same(&f.path, &path));
            let n = match known {
                Some(n) => n,
                None if files.len() >= MAX_FILES => {
                    return Err(vec![Diagnostic::error(span, "too many files belong together")]);
                }
                None => {
                    let id = sources.read(&path).map_err(|d| vec![d])?;
                    files.push(Read { id, path, imports: vec![] });
                    files.len() - 1
                }
            };
            files[at].imports.push(n);
        }
        at += 1;
    }
    Ok(files)
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Parses packages that were read; those from the first on.
pub fn parse<'a>(sources: &'a Sources, read: &[Read], first: usize) -> Result<Vec<File<'a>>, Vec<Diagnostic>> {
    let mut files = vec![];
    for (n, file) in read.iter().enumerate() {
        if n < first {
            files.push(File { package: Package::default(), imports: file.imports.clone() });
            continue;
        }
        let mut parser = Parser::new(sources, file.id);
        match parser.package() {
            Ok(package) => files.push(File { package, imports: file.imports.clone() }),
            Err(_) => return Err(parser.finish()),
        }
    }
    Ok(files)
}

/// The file that an import means.
fn find(importing: &Path, text: &str) -> Option<PathBuf> {
    let whole = importing.canonicalize().ok()?;
    let folder = whole.parent()?;
    let file = Path::new(text).file_name()?.to_str()?;
    // What generators made of a package stands for that.
    let made = file.strip_prefix('.').and_then(|f| f.strip_suffix(".gsm"));
    let name = match made {
        Some(made) => format!("{}.gcd", made.strip_suffix("-SMV").unwrap_or(made)),
        None if file.contains('.') => file.to_string(),
        None => format!("{file}.gcd"),
    };
    let mut parts: Vec<&str> = text.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
    parts.pop();
    parts.push(&name);
    let relative: PathBuf = parts.iter().collect();
    let beside = folder.join(&relative);
    if beside.is_file() && !text.starts_with('/') {
        return Some(beside);
    }
    let ancestors: Vec<&Path> = folder.ancestors().collect();
    for dropped in 0..parts.len() {
        let rest: PathBuf = parts[dropped..].iter().collect();
        for above in ancestors.iter().rev() {
            let there = above.join(&rest);
            if there.is_file() {
                return Some(there);
            }
        }
    }
    folder.ancestors().take(3).find_map(|above| package_named(above, text))
}

/// The file of a package, somewhere in a folder.
fn package_named(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut open = vec![folder.to_path_buf()];
    let mut looked = 0;
    while let Some(at) = open.pop() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(at).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
        entries.sort();
        for path in entries {
            looked += 1;
            if looked > MAX_LOOKED {
                return None;
            }
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "gcd") {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let words = text.split_whitespace().skip_while(|w| *w != "package").nth(1);
                if words == Some(name) {
                    return Some(path);
                }
            }
        }
    }
    None
}

/// The files in which a name of another is looked up, nearest first.
fn near(files: &[File<'_>], at: usize) -> Vec<usize> {
    let mut all = vec![at];
    let mut n = 0;
    while n < all.len() {
        for &i in &files[all[n]].imports {
            if !all.contains(&i) {
                all.push(i);
            }
        }
        n += 1;
    }
    all
}

/// Finds something in a file or in what it imports; with the file it is in.
pub fn lookup<'f, 'a, T>(
    files: &'f [File<'a>],
    at: usize,
    what: impl Fn(&'f Package<'a>) -> Option<&'f T>,
) -> Option<(usize, &'f T)> {
    near(files, at).into_iter().find_map(|n| Some((n, what(&files[n].package)?)))
}

/// An interface by its name.
pub fn interface<'f, 'a>(
    files: &'f [File<'a>],
    at: usize,
    name: Name<'a>,
) -> Result<(usize, &'f Interface<'a>), Diagnostic> {
    lookup(files, at, |p| p.interfaces.iter().find(|i| i.name.0 == name.0)).ok_or_else(|| {
        let all = near(files, at).into_iter().flat_map(|n| files[n].package.interfaces.iter().map(|i| i.name.0));
        unknown("interface", name, all)
    })
}

/// A component by its name.
pub fn component<'f, 'a>(
    files: &'f [File<'a>],
    at: usize,
    name: Name<'a>,
) -> Result<(usize, &'f Component<'a>), Diagnostic> {
    lookup(files, at, |p| p.components.iter().find(|c| c.name.0 == name.0)).ok_or_else(|| {
        let all = near(files, at).into_iter().flat_map(|n| files[n].package.components.iter().map(|c| c.name.0));
        unknown("component", name, all)
    })
}

/// There is no such thing.
pub fn unknown<'n>(what: &str, (name, span): (&str, Span), there_are: impl IntoIterator<Item = &'n str>) -> Diagnostic {
    Diagnostic::error(span, format!("there is no {what} `{name}`")).meant(closest(name, there_are))
}
