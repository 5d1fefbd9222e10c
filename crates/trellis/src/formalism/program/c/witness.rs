//! `--witness`: what a witness says beside the evidence, which file it is about and when and by whom it was made.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use trellis_report::program::witness::{Task, Witness, correctness, violation};
use trellis_report::{Program, ProgramReport};
use trellis_syntax::c::Kind;

use crate::Error;
use crate::files::write_file;
use crate::settings::{DataModel, Settings};

/// Writes the witness of a verdict, if it has one.
pub fn write(args: &Settings, path: &Path, p: &Program<'_>, r: &ProgramReport, kind: Kind) -> Result<(), Error> {
    let specification = match kind {
        Kind::Assertion => "G ! call(reach_error())",
        Kind::Overflow => "G ! overflow",
        Kind::Bounds | Kind::Pointer => "G valid-deref",
        _ if r.trace.is_none() => "G ! call(reach_error())",
        _ => {
            args.context
                .note(format_args!("note: SV-COMP has no property for `{}`, and so there is no witness\n", r.query));
            return Ok(());
        }
    };
    let program = &args.model.model;
    let text = std::fs::read(program)
        .map_err(|e| Error::Input(format!("error: {}: cannot be read again: {e}", program.display())))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let hash = hex(&Sha256::digest(&text));
    let task = Task {
        file: program.display().to_string(),
        data_model: match args.reading.data_model {
            Some(DataModel::Ilp32) => "ILP32".into(),
            _ => "LP64".into(),
        },
        specification: format!("CHECK( init(main()), LTL({specification}) )"),
        version: env!("CARGO_PKG_VERSION").into(),
        uuid: uuid(&format!("{now:?} {} {hash}", std::process::id())),
        time: time(now.as_secs()),
        hash,
    };
    let Witness { text, left_out } = match (&r.trace, &r.certificate) {
        (Some(t), _) => violation(p, t, &task),
        (None, Some(c)) => correctness(p, c, &task),
        (None, None) => return Ok(()),
    };
    if left_out > 0 && !args.quiet {
        args.context.note(format_args!(
            "note: facts left out of the witness, for they cannot be said in C where they hold: {left_out}\n"
        ));
    }
    write_file(path, &text)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// An identifier that nobody else makes: of version 4, its bits from a hash of what is known only here and now.
fn uuid(seed: &str) -> String {
    let mut bytes = Sha256::digest(seed)[..16].to_vec();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let h = hex(&bytes);
    format!("{}-{}-{}-{}-{}", &h[..8], &h[8..12], &h[12..16], &h[16..20], &h[20..])
}

/// Seconds since 1970 as `2026-11-16T08:30:00Z`.
fn time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86400, seconds % 86400);
    // Days are counted from the first of March of the year 0, in cycles of 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_identifiers_are_well_formed() {
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert_eq!(time(951_826_154), "2000-02-29T12:09:14Z");
        assert_eq!(time(1_794_817_800), "2026-11-16T08:30:00Z");
        let id = uuid("x");
        assert_eq!((id.len(), &id[14..15]), (36, "4"));
        assert_eq!(hex(&Sha256::digest("abc"))[..8], *"ba7816bf");
    }
}
