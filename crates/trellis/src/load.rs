//! Reading a model and its questions, whatever language they are in.

use std::path::{Path, PathBuf};

use trellis_model::network::Network;
use trellis_model::network::Query;
use trellis_syntax::diag::{self, Diagnostic, Severity, SourceId, Sources};
use trellis_syntax::uppaal::{self, ast, build};

use crate::Failure;
use crate::cli::{Model, Properties};

/// A model, ready to be explored.
pub struct Loaded {
    pub network: Network,
    pub queries: Vec<Query>,
    /// The joining strategy, if one was given as an expression.
    pub strategy: Option<build::Strategy>,
    /// The expression for the priority order.
    pub priority: Option<trellis_model::network::Condition>,
    /// What the user should know, rendered.
    pub warnings: String,
    pub name: String,
}

/// What is asked of a model apart from its file.
#[derive(Default)]
pub struct Asked<'a> {
    pub properties: Option<&'a Properties>,
    pub strategy: Option<&'a str>,
    pub priority: Option<&'a str>,
    pub color: bool,
}

struct Loader {
    sources: Sources,
    diags: Vec<Diagnostic>,
    color: bool,
}

impl Loader {
    fn read(&mut self, path: &Path) -> Result<(SourceId, String), Failure> {
        match self.sources.read(path) {
            Ok(id) => Ok((id, self.sources.get(id).text.clone())),
            Err(d) => Err(Failure::Input(diag::render(&[d], &self.sources, self.color))),
        }
    }

    /// Stops if there are errors.
    fn settle(&mut self) -> Result<(), Failure> {
        if self.diags.iter().any(|d| d.severity == Severity::Error) {
            return Err(Failure::Input(diag::render(&self.diags, &self.sources, self.color)));
        }
        Ok(())
    }

    fn queries(&mut self, name: &str, text: &str) -> Vec<ast::Query> {
        let id = self.sources.add(name, text);
        let (queries, diags) = uppaal::parse_queries(id, text);
        self.diags.extend(diags);
        queries
    }

    fn expr(&mut self, name: &str, text: &str) -> Option<ast::Expr> {
        let id = self.sources.add(name, text);
        let (e, diags) = uppaal::parse_expr(id, text);
        self.diags.extend(diags);
        e
    }
}

/// Reads a model and what is asked of it.
pub fn load(model: &Model, asked: &Asked<'_>) -> Result<Loaded, Failure> {
    let mut l = Loader { sources: Sources::default(), diags: Vec::new(), color: asked.color };
    let path = &model.model;
    let (id, text) = l.read(path)?;
    let is_xml = match path.extension().and_then(|e| e.to_str()) {
        Some("xml") => true,
        Some("xta" | "ta") => false,
        _ if text.trim_start().starts_with('<') => true,
        Some("q") => {
            return Err(Failure::Usage(format!(
                "{} is a file of queries; give the model first: trellis check MODEL --queries {}",
                path.display(),
                path.display()
            )));
        }
        other => {
            return Err(Failure::Usage(format!(
                "cannot tell the language of {}: its name ends in {}, and Trellis reads .xml, .xta and .ta",
                path.display(),
                other.map_or("nothing".into(), |e| format!("`.{e}`"))
            )));
        }
    };
    let (nta, diags) = if is_xml { uppaal::parse_xml(id, &text) } else { uppaal::parse_xta(id, &text) };
    l.diags.extend(diags);
    l.settle()?;

    let mut questions = build::Questions { embedded: true, ..Default::default() };
    if let Some(p) = asked.properties {
        let given = !p.properties.is_empty() || !p.errors.is_empty() || p.queries.is_some();
        questions.embedded = !given;
        for text in &p.properties {
            let queries = l.queries("--property", text);
            questions.queries.extend(queries);
        }
        for text in &p.errors {
            let whole = format!("A[] not ({text})");
            let queries = l.queries("--error", &whole);
            questions.queries.extend(queries);
        }
        let beside = path.with_extension("q");
        let file =
            p.queries.clone().or_else(|| (!given && nta.queries.is_empty() && beside.is_file()).then_some(beside));
        if let Some(file) = file {
            let (id, text) = l.read(&file)?;
            let (queries, diags) = uppaal::parse_queries(id, &text);
            l.diags.extend(diags);
            questions.queries.extend(queries);
        }
    }
    questions.strategy = asked.strategy.and_then(|s| l.expr("--join", s));
    questions.priority = asked.priority.and_then(|s| l.expr("--priority", s));
    l.settle()?;

    let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    let options = build::Options { folder, constants: model.constants.clone() };
    match build::build(&nta, &questions, &l.sources, &options) {
        Ok(built) => {
            l.diags.extend(built.warnings);
            Ok(Loaded {
                network: built.network,
                queries: built.queries,
                strategy: built.strategy,
                priority: built.priority,
                warnings: diag::render(&l.diags, &l.sources, asked.color),
                name: path.display().to_string(),
            })
        }
        Err(errors) => {
            l.diags.extend(errors);
            Err(Failure::Input(diag::render(&l.diags, &l.sources, asked.color)))
        }
    }
}
