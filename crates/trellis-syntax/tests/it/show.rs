//! Expressions as text with all brackets, and shorthands for parsing.

use trellis_syntax::diag::{Diagnostic, Severity, SourceId, Sources};
use trellis_syntax::uppaal::ast::{Expr, ExprKind, Nta, TypeExpr};
use trellis_syntax::uppaal::{parse_expr, parse_xml, parse_xta};

/// The first source.
pub const SOURCE: SourceId = SourceId(0);

/// An expression, fully bracketed.
pub fn show(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Int(n) => n.to_string(),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Unsupported(what) => format!("<{what}>"),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Index(a, i) => format!("{}[{}]", show(a), show(i)),
        ExprKind::Field(a, f) => format!("{}.{}", show(a), f.name),
        ExprKind::Call(f, args) => format!("{}({})", show(f), args.iter().map(show).collect::<Vec<_>>().join(", ")),
        ExprKind::Unary(op, a) => format!("({op:?} {})", show(a)),
        ExprKind::Binary(op, a, b) => format!("({} {op:?} {})", show(a), show(b)),
        ExprKind::Cond(c, a, b) => format!("({} ? {} : {})", show(c), show(a), show(b)),
        ExprKind::Assign(None, a, b) => format!("({} = {})", show(a), show(b)),
        ExprKind::Assign(Some(op), a, b) => format!("({} {op:?}= {})", show(a), show(b)),
        ExprKind::Step { up, prefix, of } => match (prefix, if *up { "++" } else { "--" }) {
            (true, sign) => format!("({sign}{})", show(of)),
            (false, sign) => format!("({}{sign})", show(of)),
        },
        ExprKind::Quant(q, i, ty, e) => format!("({q:?} {}:{} {})", i.name, show_type(ty), show(e)),
        ExprKind::Deadlock => "deadlock".to_string(),
        ExprKind::Rate(e) => format!("{}'", show(e)),
        ExprKind::Comma(a, b) => format!("({}, {})", show(a), show(b)),
    }
}

/// A type, roughly.
pub fn show_type(ty: &TypeExpr) -> String {
    use trellis_syntax::uppaal::ast::BaseType;
    let mut out = String::new();
    for (set, word) in [
        (ty.is_const, "const "),
        (ty.meta, "meta "),
        (ty.urgent, "urgent "),
        (ty.broadcast, "broadcast "),
        (ty.hybrid, "hybrid "),
    ] {
        if set {
            out.push_str(word);
        }
    }
    out + &match &ty.base {
        BaseType::Int(None) => "int".to_string(),
        BaseType::Int(Some((a, b))) => format!("int[{},{}]", show(a), show(b)),
        BaseType::Bool => "bool".to_string(),
        BaseType::Clock => "clock".to_string(),
        BaseType::Chan => "chan".to_string(),
        BaseType::Void => "void".to_string(),
        BaseType::Unsupported(what) => format!("<{what}>"),
        BaseType::Scalar(n) => format!("scalar[{}]", show(n)),
        BaseType::Struct(fields) => {
            let fields = fields.iter().map(|(ty, names)| {
                format!(
                    "{} {};",
                    show_type(ty),
                    names.iter().map(|n| n.name.name.as_str()).collect::<Vec<_>>().join(",")
                )
            });
            format!("struct{{{}}}", fields.collect::<String>())
        }
        BaseType::Named(name) => name.name.clone(),
    }
}

/// What an expression is read as.
pub fn expr(text: &str) -> String {
    let (expr, diags) = parse_expr(SOURCE, text);
    assert!(diags.is_empty(), "{text}: {diags:?}");
    show(&expr.expect("an expression without errors"))
}

/// A textual model that must be right.
pub fn xta(text: &str) -> Nta {
    let (nta, diags) = parse_xta(SOURCE, text);
    assert!(diags.is_empty(), "{text}: {diags:?}");
    nta
}

/// An XML model that must be right.
pub fn xml(text: &str) -> Nta {
    let (nta, diags) = parse_xml(SOURCE, text);
    assert!(diags.is_empty(), "{text}: {diags:?}");
    nta
}

/// The errors of a text, as `line:column: message`.
pub fn places(text: &str, diags: &[Diagnostic]) -> Vec<String> {
    let mut sources = Sources::default();
    sources.add("test", text);
    let errors = diags.iter().filter(|d| d.severity == Severity::Error);
    errors
        .map(|d| {
            let (line, column) = sources.line_col(d.span.expect("a place"));
            format!("{line}:{column}: {}", d.message)
        })
        .collect()
}

/// The text a span covers.
pub fn covered(text: &str, span: trellis_syntax::diag::Span) -> &str {
    &text[span.start as usize..span.end as usize]
}
