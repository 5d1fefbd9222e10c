//! A proof that is saved, read again and accepted; then changed, and rejected.

use trellis::{Certified, Error, Model, Verdict};

fn main() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("trellis-certify-{}", std::process::id()));
    let io = |e: std::io::Error| Error::Output(e.to_string());
    std::fs::create_dir_all(&folder).map_err(io)?;
    let (file, evidence) = (folder.join("lamp.xta"), folder.join("proof.json"));
    let text = "process P() { state A, B, C; init A; trans A -> B { }, B -> A { }; } system P;";
    std::fs::write(&file, text).map_err(io)?;

    let model = Model::open(&file)?;
    let property = model.property("A[] not P.C")?;
    let Verdict::Safe(proof) = model.check(&property).run()?.verdict() else { panic!("C is never reached") };
    proof.save(&evidence)?;
    assert!(matches!(model.certify(&property, &evidence)?, Certified::Valid(_)));

    // The proof is about this model and no other.
    std::fs::write(&file, text.replace("B -> A", "B -> C")).map_err(io)?;
    let changed = Model::open(&file)?;
    let Certified::Rejected(why) = changed.certify(&property, &evidence)? else { panic!("another model") };
    println!("rejected: {why}");
    std::fs::remove_dir_all(&folder).map_err(io)
}
