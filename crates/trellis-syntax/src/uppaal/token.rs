//! The words of the UPPAAL language: punctuation, reserved words, and the token itself.
//!
//! Only the words that can never be names are keywords here; `select`, `meta`, `sup`, `import` and the like are plain
//! names to the lexer and get their meaning from where they stand, so that old models that use them as names still read.

use crate::diag::Span;

pub use crate::diag::shorten;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)* }

        impl $name {
            /// As it is spelled.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The one with this spelling.
            pub fn from_text(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// Punctuation and operators.
    Punct {
        LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}",
        Semi ";", Comma ",", Dot ".", Colon ":", Question "?", Quote "'", Arrow "->", LeadsTo "-->",
        Assign "=", ColonAssign ":=", AddAssign "+=", SubAssign "-=", MulAssign "*=", DivAssign "/=", ModAssign "%=",
        AndAssign "&=", OrAssign "|=", XorAssign "^=", ShlAssign "<<=", ShrAssign ">>=",
        OrOr "||", AndAnd "&&", Or "|", Xor "^", And "&", EqEq "==", Ne "!=",
        Lt "<", Le "<=", Ge ">=", Gt ">", Min "<?", Max ">?", Shl "<<", Shr ">>",
        Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Not "!", Inc "++", Dec "--", Hash "#",
    }
}

words! {
    /// Words that cannot be names.
    Kw {
        Const "const", Meta "meta", Int "int", Bool "bool", Clock "clock", Chan "chan", Void "void", Scalar "scalar",
        Broadcast "broadcast", Urgent "urgent", Commit "commit", Struct "struct", Typedef "typedef",
        Process "process", State "state", Init "init", Trans "trans", Guard "guard", Sync "sync", Assign "assign",
        System "system", True "true", False "false", And "and", Or "or", Not "not", Imply "imply",
        For "for", While "while", Do "do", If "if", Else "else", Return "return",
        Forall "forall", Exists "exists", Deadlock "deadlock",
    }
}

/// The kinds of token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tok<'a> {
    /// A name, or a word that is a keyword only in its place.
    Ident(&'a str),
    /// A reserved word.
    Kw(Kw),
    /// A whole number; `None` if it does not fit 64 bits.
    Int(Option<i64>),
    /// A number with a fraction or an exponent.
    Float(&'a str),
    /// `"text"`, without the quotes.
    Str(&'a str),
    /// Punctuation.
    P(Punct),
    /// The end.
    Eof,
}

/// A token in its place.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    /// The token itself.
    pub tok: Tok<'a>,
    /// Where, in the file.
    pub span: Span,
    /// Where it starts, in the text that was lexed (differs from the file for XML content).
    pub at: usize,
    /// Where it ends, in the text that was lexed.
    pub end: usize,
    /// The comment right above, from its first to its last byte in the text that was lexed; empty if there is none.
    pub comment: (usize, usize),
    /// Whether a line ended between the previous token and this one (and was not continued with `\`).
    pub first_on_line: bool,
}

impl Tok<'_> {
    /// How a diagnostic names it.
    pub fn describe(&self) -> String {
        match self {
            Tok::Ident(name) => format!("`{}`", shorten(name)),
            Tok::Kw(kw) => format!("the keyword `{}`", kw.text()),
            Tok::Int(Some(n)) => format!("`{n}`"),
            Tok::Int(None) => "a number".to_string(),
            Tok::Float(text) => format!("`{}`", shorten(text)),
            Tok::Str(text) => format!("the string \"{}\"", shorten(text)),
            Tok::P(p) => format!("`{}`", p.text()),
            Tok::Eof => "the end of the text".to_string(),
        }
    }
}
