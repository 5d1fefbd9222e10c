//! Reading a model and its questions, whatever language they are in.

use std::path::Path;

use trellis_domain::script::Brought;
use trellis_model::network::Network;
use trellis_model::network::Query;
use trellis_report::Kind;
use trellis_report::json::Input;
use trellis_syntax::diag::{self, Diagnostic, Severity, SourceId, Sources};
use trellis_syntax::ltl::network::{self as formulas, Said, Vocabulary};
use trellis_syntax::tchecker;
use trellis_syntax::text::errors::MAX_ERRORS;
use trellis_syntax::uppaal::{self, ast, build};

use crate::binding::{input, model_input};
use crate::formalism::Language;
use crate::formalism::formula::question::Ask;
use crate::settings::{Model, Properties};
use crate::task::{Question, Unanswered};
use crate::{Error, after, warnings};

/// A model, ready to be explored.
pub struct Loaded {
    pub network: Network,
    pub queries: Vec<Query>,
    /// Questions of kinds that Trellis does not answer, and what they are, beside others that it does.
    pub unanswered: Vec<(String, String)>,
    /// Questions that make no sense, and what is wrong with them, beside others that do.
    pub refused: Vec<(String, String)>,
    /// What the file says about its questions: those that are satisfied, and those that are not.
    pub recorded: Vec<(String, bool)>,
    /// The joining strategy, if one was given as an expression.
    pub strategy: Option<build::Strategy>,
    /// The expression for the priority order.
    pub priority: Option<trellis_model::network::Condition>,
    /// What the user should know, rendered.
    pub warnings: String,
    pub name: String,
    /// The language, as reports call it.
    pub language: &'static str,
    /// The labels of a TChecker model.
    pub labels: Vec<String>,
    /// The formulas that were asked, understood.
    pub said: Vec<Said>,
    /// What the model was read from.
    pub inputs: Vec<Input>,
    /// What the user has brought along in another language.
    pub brought: Brought,
}

impl Loaded {
    /// What is asked.
    pub fn questions(&self) -> Vec<Question> {
        let question = |q: &Query| Question {
            recorded: self.recorded.iter().find(|(text, _)| *text == q.text).map(|(_, satisfied)| *satisfied),
            ..Question::plain(&q.text, Kind::of(&q.kind), warnings::of_query(&self.network, q))
        };
        self.queries.iter().map(question).collect()
    }

    /// What is asked and not answered.
    pub fn left_open(&self) -> Vec<(String, Unanswered)> {
        let refused = self.refused.iter().map(|(text, why)| (text.clone(), Unanswered::Refused(why.clone())));
        let others = self.unanswered.iter();
        refused.chain(others.map(|(text, what)| (text.clone(), Unanswered::Unsupported(what.clone())))).collect()
    }
}

/// What is asked of a model apart from its file.
#[derive(Default)]
pub struct Asked<'a> {
    pub properties: Option<&'a Properties>,
    pub strategy: Option<&'a str>,
    pub priority: Option<&'a str>,
    /// Formulas of linear temporal logic.
    pub asks: &'a [Ask],
    pub color: bool,
}

struct Loader {
    sources: Sources,
    diags: Vec<Diagnostic>,
    /// Questions that make no sense.
    refused: Vec<(String, Vec<Diagnostic>)>,
    color: bool,
}

impl Loader {
    fn read(&mut self, path: &Path) -> Result<(SourceId, String), Error> {
        match self.sources.read(path) {
            Ok(id) => Ok((id, self.sources.get(id).text.clone())),
            Err(d) => Err(Error::Input(diag::render(&[d], &self.sources, self.color))),
        }
    }

    /// Stops if there are errors.
    fn settle(&mut self) -> Result<(), Error> {
        if self.diags.iter().any(|d| d.severity == Severity::Error) {
            return Err(Error::Input(diag::render(&self.diags, &self.sources, self.color)));
        }
        Ok(())
    }

    fn queries(&mut self, name: &str, text: &str) -> Vec<ast::Query> {
        let id = self.sources.add(name, text);
        let (queries, diags) = uppaal::parse_queries(id, text);
        self.diags.extend(diags);
        queries
    }

    /// The properties on the command line.
    fn given(&mut self, p: &Properties) -> Vec<ast::Query> {
        let mut all = Vec::new();
        for text in &p.properties {
            all.extend(self.queries("--property", text));
        }
        for text in &p.errors {
            all.extend(self.queries("--error", &format!("A[] not ({text})")));
        }
        all
    }

    fn query_file(&mut self, file: &Path) -> Result<Vec<ast::Query>, Error> {
        let (id, text) = self.read(file)?;
        let (queries, diags) = uppaal::parse_queries(id, &text);
        self.diags.extend(diags);
        Ok(queries)
    }

    /// The words of formulas.
    fn spoken(&mut self, asks: &[Ask]) -> Spoken {
        let mut spoken = Spoken::default();
        for ask in asks {
            let texts: Vec<(String, &str)> = match ask {
                Ask::Formula { formula, .. } => vec![("--ltl".into(), formula)],
                Ask::Forbidden { file, hoa, .. } => {
                    hoa.atoms.iter().map(|a| (format!("AP of {file}"), a.as_str())).collect()
                }
            };
            let ids: Vec<SourceId> = texts.into_iter().map(|(name, text)| self.sources.add(name, text)).collect();
            ids.iter().for_each(|&id| spoken.words.add(&mut self.sources, id));
            spoken.formulas.push((matches!(ask, Ask::Formula { .. }), ids));
        }
        spoken
    }

    /// The formulas, once their words are known.
    fn understood(&mut self, spoken: &Spoken, net: &mut Network) -> Result<Vec<Said>, Error> {
        let mut all = Vec::new();
        for (is_formula, ids) in &spoken.formulas {
            let read = match (is_formula, &ids[..]) {
                (true, [id]) => formulas::read(&self.sources, *id, net, &spoken.words),
                _ => formulas::read_atoms(&self.sources, ids, net, &spoken.words),
            };
            match read {
                Ok(said) => all.push(said),
                Err(errors) => self.diags.extend(errors),
            }
        }
        self.settle()?;
        Ok(all)
    }

    /// Takes out queries that cannot be read, so that the others can be asked.
    fn set_apart(&mut self, queries: &mut Vec<ast::Query>) {
        queries.retain(|q| {
            let ast::QueryKind::Malformed(errors) = &q.kind else { return true };
            let is_one = |d: &Diagnostic| errors.iter().any(|e| e.span == d.span && e.message == d.message);
            self.diags.retain(|d| !is_one(d));
            self.refused.push((q.text.clone(), errors.clone()));
            false
        });
    }

    /// What is said of questions that make no sense. If there is no other question, that is all there is to say.
    fn refusals(&mut self, others: usize) -> Result<Vec<(String, String)>, Error> {
        let refused = std::mem::take(&mut self.refused);
        let mut said = Vec::new();
        for (text, errors) in refused {
            let why = errors.first().map_or_else(|| "it was asked before, and refused".into(), |e| e.message.clone());
            // Thousands of them are not read by anybody.
            if said.len() < MAX_ERRORS {
                self.diags.extend(errors);
            }
            said.push((text, why));
        }
        if others == 0 {
            self.settle()?;
        }
        Ok(said)
    }

    /// Takes out what is not supported, with a warning, if anything else is asked. If nothing is, it is an error later.
    fn unanswered(&mut self, queries: &mut Vec<ast::Query>) -> Vec<(String, String)> {
        let mut left = Vec::new();
        if queries.iter().any(|q| !matches!(q.kind, ast::QueryKind::Unsupported(_))) {
            queries.retain(|q| {
                let ast::QueryKind::Unsupported(what) = &q.kind else { return true };
                let d = Diagnostic::warning(q.span, format!("{what} is not supported: this question stays unanswered"));
                self.diags.push(d.help("Trellis answers A[] p, E<> p, A<> p, E[] p, p --> q, sup: e and inf: e"));
                left.push((q.text.clone(), what.clone()));
                false
            });
        }
        left
    }

    fn expr(&mut self, name: &str, text: &str) -> Option<ast::Expr> {
        let id = self.sources.add(name, text);
        let (e, diags) = uppaal::parse_expr(id, text);
        self.diags.extend(diags);
        e
    }
}

/// Formulas whose words must be built along with the model.
#[derive(Default)]
struct Spoken {
    words: Vocabulary,
    /// Formulas, or the atoms of automata.
    formulas: Vec<(bool, Vec<SourceId>)>,
}

/// Reads a model and what is asked of it.
pub fn load(model: &Model, language: &Language, asked: &Asked<'_>) -> Result<Loaded, Error> {
    let mut loaded = read(model, language, asked)?;
    if let Some(moves) = &model.after {
        after::network(&mut loaded.network, moves)?;
    }
    Ok(loaded)
}

fn read(model: &Model, language: &Language, asked: &Asked<'_>) -> Result<Loaded, Error> {
    let mut l = Loader { sources: Sources::default(), diags: Vec::new(), refused: Vec::new(), color: asked.color };
    let path = &model.model;
    let (id, text) = l.read(path)?;
    if language.name == "tchecker" {
        return load_tchecker(l, model, asked, id, &text);
    }
    if asked.properties.is_some_and(|p| !p.labels.is_empty()) {
        return Err(Error::Usage("--labels: only models in the TChecker language have labels".into()));
    }
    let is_xml = language.extensions.contains(&"xml");
    let (mut nta, diags) = if is_xml { uppaal::parse_xml(id, &text) } else { uppaal::parse_xta(id, &text) };
    l.diags.extend(diags);
    let apart = asked.properties.is_some();
    let embedded = nta.queries.len();
    if apart {
        l.set_apart(&mut nta.queries);
    }
    l.settle()?;

    let mut questions = build::Questions { embedded: true, apart, ..Default::default() };
    if let Some(p) = asked.properties {
        let given = !p.properties.is_empty() || !p.errors.is_empty() || p.queries.is_some();
        questions.embedded = !given;
        questions.queries.extend(l.given(p));
        let beside = path.with_extension("q");
        let file = p.queries.clone().or_else(|| (!given && embedded == 0 && beside.is_file()).then_some(beside));
        if let Some(file) = file {
            questions.queries.extend(l.query_file(&file)?);
        }
        if given {
            // They are not asked.
            l.refused.clear();
        }
        l.set_apart(&mut questions.queries);
    }
    if std::mem::take(&mut questions.embedded) {
        questions.queries.splice(0..0, nta.queries.iter().cloned());
    }
    if asked.properties.is_none() {
        questions.queries.retain(|q| !matches!(q.kind, ast::QueryKind::Unsupported(_)));
    }
    let unanswered = l.unanswered(&mut questions.queries);
    let mut spoken = l.spoken(asked.asks);
    questions.values = spoken.words.expressions().to_vec();
    questions.strategy = asked.strategy.and_then(|s| l.expr("--join", s));
    questions.priority = asked.priority.and_then(|s| l.expr("--priority", s));
    l.settle()?;

    let recorded = questions.queries.iter().filter_map(|q| Some((q.text.clone(), q.recorded?))).collect();
    let brought = model.brought()?;
    let options =
        build::Options { folders: model.folders(), constants: model.constants.clone(), brought: brought.clone() };
    match build::build(&nta, &questions, &l.sources, &options) {
        Ok(mut built) => {
            l.diags.extend(built.warnings);
            spoken.words.built(built.values);
            let said = l.understood(&spoken, &mut built.network)?;
            let mut inputs = vec![model_input(path, &l.sources)];
            inputs.extend(built.scripts.iter().map(|(file, text)| input(Path::new(file), text.as_bytes())));
            l.refused.extend(built.refused);
            let refused = l.refusals(built.queries.len() + unanswered.len())?;
            Ok(Loaded {
                inputs,
                network: built.network,
                queries: built.queries,
                unanswered,
                refused,
                recorded,
                strategy: built.strategy,
                priority: built.priority,
                warnings: diag::render(&l.diags, &l.sources, asked.color),
                name: path.display().to_string(),
                language: "uppaal",
                labels: Vec::new(),
                said,
                brought,
            })
        }
        Err(errors) => {
            l.diags.extend(errors);
            Err(Error::Input(diag::render(&l.diags, &l.sources, asked.color)))
        }
    }
}

/// The same for a model in the TChecker language.
fn load_tchecker(mut l: Loader, model: &Model, asked: &Asked<'_>, id: SourceId, text: &str) -> Result<Loaded, Error> {
    let path = &model.model;
    if asked.strategy.is_some() || asked.priority.is_some() {
        return Err(Error::Usage("--join and --priority do not apply to TChecker models".into()));
    }
    let (ast, diags) = tchecker::parse(id, text);
    l.diags.extend(diags);
    l.settle()?;
    let mut questions = tchecker::Questions::default();
    if let Some(p) = asked.properties {
        for set in &p.labels {
            let id = l.sources.add("--labels", set);
            let (labels, diags) = tchecker::parse_labels(id, set);
            l.diags.extend(diags);
            questions.labels.push(labels);
        }
        questions.queries = l.given(p);
        let beside = path.with_extension("q");
        let nothing = questions.labels.is_empty() && questions.queries.is_empty();
        if let Some(file) = p.queries.clone().or_else(|| (nothing && beside.is_file()).then_some(beside)) {
            questions.queries.extend(l.query_file(&file)?);
        }
        l.set_apart(&mut questions.queries);
    }
    questions.apart = asked.properties.is_some();
    let mut spoken = l.spoken(asked.asks);
    questions.values = spoken.words.expressions().to_vec();
    l.settle()?;
    let built = match &ast {
        Some(ast) => tchecker::build(ast, &questions, &l.sources),
        None => Err(Vec::new()),
    };
    match built {
        Ok(mut built) => {
            l.diags.extend(built.warnings);
            spoken.words.built(built.values);
            let said = l.understood(&spoken, &mut built.network)?;
            l.refused.extend(built.refused);
            let refused = l.refusals(built.queries.len())?;
            Ok(Loaded {
                inputs: vec![model_input(path, &l.sources)],
                network: built.network,
                queries: built.queries,
                unanswered: Vec::new(),
                refused,
                recorded: Vec::new(),
                strategy: None,
                priority: None,
                warnings: diag::render(&l.diags, &l.sources, asked.color),
                name: path.display().to_string(),
                language: "tchecker",
                labels: built.labels.into_iter().map(|(label, _)| label).collect(),
                said,
                brought: Brought::default(),
            })
        }
        Err(errors) => {
            l.diags.extend(errors);
            Err(Error::Input(diag::render(&l.diags, &l.sources, asked.color)))
        }
    }
}
