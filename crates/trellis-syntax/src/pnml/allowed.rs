//! Which elements and attributes a net may have. What is in no list is refused, by name: nobody knows what it means.
//!
//! The lists are those of ISO/IEC 15909-2 for place/transition nets, and of what TAPAAL, PIPE, Snoopy, WoPeD, ProM and their like
//! write beside it. What is *ignored* cannot change which markings are reached, for the reason given with it.

use roxmltree::{Attribute, Node};

use crate::diag::Diagnostic;
use crate::diag::shorten;
use crate::text::errors::closest;

use super::{Read, Reader};

/// What is done with a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is read.
    Read,
    /// It is not, because of this.
    Ignored(&'static str),
}

use Use::Ignored;

const DRAWN: Use = Ignored("where and how things are drawn");
const TOOL: Use = Ignored("the standard lets no tool put there what changes the net for others");
const SAID: Use = Ignored("a remark");
const SERVERS: Use = Ignored("how fast things happen, not whether");
const URGENT: Use = Ignored("urgency stops time, and a net with time is refused");
const ASKED: Use = Ignored("a question, not a part of the net");
const FINAL: Use = Ignored("where a process should end, not where it can go");
const COLOUR: Use =
    Ignored("how tokens of a colour are drawn; tokens of several colours are refused where they are used");
const CONSTANT: Use = Ignored("a number with a name; numbers that are not written out are refused where they are used");

/// What is done with parts, and their names.
type List = &'static [(Use, &'static str)];

/// The names in a list, each with what is done with it.
fn parts(list: List) -> impl Iterator<Item = (Use, &'static str)> {
    list.iter().flat_map(|(what, names)| names.split(' ').map(|name| (*what, name)))
}

/// Attributes and children of an element; nothing if it is not one that is read.
fn lists(element: &str) -> Option<(List, List)> {
    const GRAPHICS: (Use, &str) = (DRAWN, "graphics");
    const TOOLS: (Use, &str) = (TOOL, "toolspecific");
    const REMARK: (Use, &str) = (SAID, "description");
    const PARTS: (Use, &str) = (Use::Read, "page place transition arc referencePlace referenceTransition name");
    const LABEL: List = &[(Use::Read, "text value"), GRAPHICS, TOOLS];
    const OFFSET: (Use, &str) = (DRAWN, "nameOffsetX nameOffsetY");
    const PLACED: (Use, &str) = (DRAWN, "displayName positionX positionY");
    Some(match element {
        "pnml" => (&[], &[(Use::Read, "net"), TOOLS, (ASKED, "query queries k-bound feature"), (CONSTANT, "constant")]),
        "net" => (
            &[(Use::Read, "id type active"), (SAID, "name")],
            &[PARTS, GRAPHICS, TOOLS, REMARK, (COLOUR, "token"), (SAID, "labels"), (FINAL, "finalmarkings")],
        ),
        "page" => (&[(Use::Read, "id"), (SAID, "name")], &[PARTS, GRAPHICS, TOOLS, REMARK, (SAID, "labels")]),
        "place" => (
            &[(Use::Read, "id name initialMarking capacity invariant"), OFFSET, PLACED],
            &[(Use::Read, "name initialMarking capacity"), GRAPHICS, TOOLS, REMARK],
        ),
        "transition" => (
            &[
                (Use::Read, "id name priority player"),
                OFFSET,
                PLACED,
                (DRAWN, "angle"),
                (SERVERS, "infiniteServer"),
                (URGENT, "urgent"),
            ],
            &[
                (Use::Read, "name rate timed priority"),
                (DRAWN, "orientation"),
                (SERVERS, "infiniteServer"),
                GRAPHICS,
                TOOLS,
                REMARK,
            ],
        ),
        "arc" => (
            &[(Use::Read, "id source target type weight inscription"), OFFSET],
            &[(Use::Read, "inscription type arctype tagged name"), (DRAWN, "arcpath"), GRAPHICS, TOOLS, REMARK],
        ),
        "referencePlace" | "referenceTransition" => {
            (&[(Use::Read, "id ref")], &[(Use::Read, "name"), GRAPHICS, TOOLS, REMARK])
        }
        "name" | "initialMarking" | "capacity" | "inscription" | "rate" | "timed" | "priority" | "tagged" => {
            (&[], LABEL)
        }
        "type" | "arctype" => (&[(Use::Read, "value")], LABEL),
        "text" | "value" => (&[], &[]),
        _ => return None,
    })
}

/// Is this one of the parts that hold a text?
fn holds_text(element: &str) -> bool {
    lists(element).is_some_and(|(_, children)| children.is_empty() || parts(children).any(|c| c.1 == "text"))
}

/// Why somebody might have written a part that is not understood.
fn advice(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    if lower.starts_with("hl") || has(&["colo", "declaration", "condition", "structure", "sort"]) {
        Some("nets whose tokens have colours are not supported: unfold the net first")
    } else if has(&["time", "interval", "delay", "invariant", "clock", "age", "duration"]) {
        Some("nets with time are not supported: timed automata are (`trellis help formats`)")
    } else if lower.starts_with("shared") {
        Some("parts that several nets share are not supported: compose the nets first, as TAPAAL does on export")
    } else if has(&["guard", "priority", "weight", "probability"]) {
        Some("it may decide what can happen, so it is not skipped")
    } else {
        None
    }
}

impl<'a> Reader<'a> {
    /// Goes through an element and all that is read of it, and refuses what is not known.
    pub fn check(&self, top: Node<'a, 'a>) -> Read<()> {
        let space = top.tag_name().namespace();
        let mut waiting = vec![top];
        while let Some(node) = waiting.pop() {
            let element = node.tag_name().name();
            let Some((attributes, children)) = lists(element) else { continue };
            for a in node.attributes() {
                self.known_attribute(element, attributes, &a)?;
            }
            for child in node.children() {
                if child.is_text() && !holds_text(element) && child.text().is_some_and(|t| !t.trim().is_empty()) {
                    let text = child.text().unwrap_or_default().trim();
                    return self.fail(child, format!("text in <{element}> is not understood: `{}`", shorten(text)));
                }
                if !child.is_element() {
                    continue;
                }
                let name = child.tag_name().name();
                let foreign = child.tag_name().namespace() != space;
                match parts(children).find(|c| c.1 == name) {
                    Some((Use::Read, _)) if !foreign => waiting.push(child),
                    Some((Ignored(_), _)) if !foreign => {}
                    _ => return Err(self.unknown(child, element, name, foreign, children)),
                }
            }
        }
        Ok(())
    }

    fn unknown(&self, child: Node<'_, '_>, element: &str, name: &str, foreign: bool, children: List) -> Diagnostic {
        let other = if foreign { " of another namespace" } else { "" };
        let message = format!("<{}>{other} in <{element}> is not understood", shorten(name));
        let error = Diagnostic::error(self.span(child), message);
        match (advice(name), closest(name, parts(children).map(|c| c.1))) {
            (Some(why), _) => error.help(why),
            (None, Some(near)) if !foreign => error.help(format!("did you mean <{near}>?")),
            _ => error.help("what is not understood is not skipped: take it out if it does not matter"),
        }
    }

    fn known_attribute(&self, element: &str, known: List, a: &Attribute<'a, 'a>) -> Read<()> {
        // `xml:space`, `xsi:schemaLocation`: about the file.
        let about_file = |space: &str| space.starts_with("http://www.w3.org/");
        let name = a.name();
        match a.namespace() {
            Some(space) if about_file(space) => Ok(()),
            None if parts(known).any(|k| k.1 == name) => Ok(()),
            _ => {
                let range = a.range();
                let message = format!("the attribute `{}` of <{element}> is not understood", shorten(name));
                let error = Diagnostic::error(self.at(range.start, range.end), message);
                Err(match (advice(name), closest(name, parts(known).map(|k| k.1))) {
                    (Some(why), _) => error.help(why),
                    (None, Some(near)) => error.help(format!("did you mean `{near}`?")),
                    _ => error.help("what is not understood is not skipped: take it out if it does not matter"),
                })
            }
        }
    }
}
