//! Labelled transition systems as Trellis knows them: their language, and what they are asked.

use std::path::Path;

use trellis::formalism::prelude::*;

use crate::model::Lts;
use crate::parse::parse;

pub struct Systems;

static LANGUAGES: [Language; 1] =
    [Language { name: "lts", title: "labelled transition systems", extensions: &["lts"], sniff: by_name_only }];
static PROFILE: Profile = Profile { who: "labelled transition systems", engines: &[Engine::Auto], options: &[] };

fn load(path: &Path) -> Result<(Lts, Input), Error> {
    let (text, input) = binding::read(path)?;
    let lts = parse(&text).map_err(|why| Error::Input(format!("error: {}: {why}", path.display())))?;
    Ok((lts, input))
}

impl Formalism for Systems {
    fn languages(&self) -> &'static [Language] {
        &LANGUAGES
    }

    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    /// A question for each state that `--error` or the model names.
    fn ask(&self, request: &Request) -> Cases {
        let args = request.args.clone();
        let (lts, input) = load(&args.model.model)?;
        let unknown = |name: &String| Error::Input(format!("error: --error: there is no state `{name}`"));
        let find = |name: &String| lts.states.iter().position(|s| s == name).ok_or_else(|| unknown(name));
        let mut bad = args.properties.errors.iter().map(find).collect::<Result<Vec<usize>, Error>>()?;
        if bad.is_empty() {
            bad.clone_from(&lts.errors);
        }
        let never = |bad| (format!("never {}", lts.states[bad]), Lts { errors: vec![bad], ..lts.clone() });
        let asked: Vec<(String, Lts)> = bad.into_iter().map(never).collect();
        match asked.is_empty() {
            true => Err(Error::Nothing("lts", "say what must never be reached: --error STATE".into())),
            false => Ok(vec![Rc::new(Listed { args, language: "lts", inputs: vec![input], asked })]),
        }
    }

    fn own_queries(&self, _: &Language) -> Own {
        Own::Errors
    }

    /// Formulas say `state in NAME`.
    fn quoted_conditions(&self, _: &Language) -> bool {
        true
    }

    fn subject(&self, request: &Request) -> Result<Subject, Error> {
        let (lts, _) = load(&request.args.model.model)?;
        Subject::transitions("state", &lts.states, &[lts.start], &lts.steps)
    }

    fn stepper(&self, args: &Simulate, _: &'static Language, _: Option<&str>, _: &Context) -> Steps {
        let (lts, _) = load(&args.model.model)?;
        let starts = lts.initial();
        boxed(Trail::from(lts, starts))
    }

    fn drawing(&self, args: &Convert, _: &'static Language, _: bool) -> Result<Drawing, Error> {
        Ok(load(&args.model.model)?.0.drawing())
    }
}
