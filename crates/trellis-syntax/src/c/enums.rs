//! Enumerations, as gcc has them: members that are an `int` are of that type, the others of the enumeration's. That is an
//! `unsigned int`, or an `int` if a member is negative; wider if a member needs it, and as narrow as possible if it is `packed`.

use lang_c::ast::EnumType;
use lang_c::span::Node;

use super::decl::Name;
use super::lower::{Lower, Lowered};
use super::types::{CType, IntType};

impl Lower<'_> {
    /// `enum e`, perhaps with its members.
    pub fn enumeration(&mut self, e: &Node<EnumType>) -> Lowered<CType> {
        let tag = e.node.identifier.as_ref().map(|i| i.node.name.as_str());
        if e.node.enumerators.is_empty() {
            let scopes = self.frame.scopes.iter().rev().chain([&self.unit.file]);
            let known = scopes.filter_map(|s| s.tags.get(tag.unwrap_or_default())).next();
            let unknown = || CType::other(format!("of the unknown type `enum {}`", tag.unwrap_or_default()));
            return Ok(known.cloned().unwrap_or_else(unknown));
        }
        if let Some(tag) = &e.node.identifier {
            self.once(format!("enum {}", tag.node.name), tag.span)?;
        }
        let attributes = self.tag_attributes(e.span.start)?;
        let (mut next, mut least, mut most) = (0i128, 0i128, 0i128);
        let mut members = vec![];
        for member in &e.node.enumerators {
            let name = &member.node.identifier.node.name;
            if let Some(value) = &member.node.expression {
                next = self.constant_of(value, "the value of an enumeration's member")?;
            } else if [i32::MAX.into(), u32::MAX.into(), i64::MAX.into()].contains(&(next - 1)) && !members.is_empty() {
                return self.error(member.span, format!("`{name}` is one more than a type can hold"));
            }
            let own = self.attributes(&member.node.extensions)?;
            if let Some((odd, span)) = own.odd {
                return self.error(span, format!("the attribute `{odd}` is not supported here"));
            }
            (least, most) = (least.min(next), most.max(next));
            self.once(name.clone(), member.node.identifier.span)?;
            // The type of wide ones is known in the end; until then they have one that can hold them.
            self.bind(name, Name::Constant(next, self.holding(next.min(0), next.max(0), 32)));
            members.push((name, next));
            next += 1;
        }
        let fewest = if attributes.packed { 8 } else { 32 };
        let mut ty = self.holding(least, most, fewest);
        if least == 0 {
            ty.signed = false;
        }
        let fits = if ty.signed { 63 } else { 64 };
        if least < -(1 << 63) || most >= 1 << fits {
            return self.error(e.span, "the members of this enumeration need more than 64 bits");
        }
        for (name, n) in members {
            let own = if i32::try_from(n).is_ok() { IntType::INT } else { ty };
            self.bind(name, Name::Constant(n, own));
        }
        let layout = attributes.mode.map(|_| "mode").or(attributes.aligned.map(|_| "aligned"));
        let ty = match attributes.odd_for_objects().or(layout) {
            Some(odd) => CType::other(format!("an enumeration with the attribute `{odd}`")),
            None => CType::Int(ty),
        };
        if let Some(tag) = tag {
            let scope = self.frame.scopes.last_mut().unwrap_or(&mut self.unit.file);
            scope.tags.insert(tag.to_string(), ty.clone());
        }
        Ok(ty)
    }

    /// The narrowest type of at least so many bits for numbers from `least` to `most`: a signed one if some are negative, or if
    /// an `int` will do.
    fn holding(&self, least: i128, most: i128, fewest: u8) -> IntType {
        let signed = least < 0;
        let holds = |width: u8, signed: bool| {
            let bits = width - u8::from(signed);
            most < 1 << bits && (!signed || least >= -(1 << bits))
        };
        if fewest == 32 && holds(32, true) {
            return IntType::INT;
        }
        let width = [8, 16, 32, 64].into_iter().find(|w| *w >= fewest && holds(*w, signed)).unwrap_or(64);
        self.int_of(width, signed)
    }
}
