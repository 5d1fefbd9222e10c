//! `--workers`: however many explore, they say the same of every bundled network; `--checkpoint` and `--resume`: a process that is killed loses at
//! most what it did since.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::{root, stderr, stdout, trellis};

/// What is said of each property, but for how long it took and who explored.
fn said(args: &[&str]) -> Vec<Value> {
    let out = trellis(&[&["check", "--json"], args].concat());
    let code = out.status.code();
    assert!(matches!(code, Some(0 | 10 | 20)), "{args:?}: {code:?}\n{}{}", stdout(&out), stderr(&out));
    let line = |l: &str| {
        let mut v: Value = serde_json::from_str(l).expect("a line of JSON");
        let fields = v.as_object_mut().expect("an object");
        fields.retain(|name, _| !matches!(name.as_str(), "seconds" | "engine"));
        // Several states may have the largest value; which of them is shown depends on the order of the list.
        if v["verdict"] == "BOUND" {
            v["checked"] = Value::Null;
        }
        v
    };
    stdout(&out).lines().map(line).collect()
}

#[test]
fn any_number_of_workers_says_the_same_of_every_bundled_network() {
    let mut compared = 0;
    for folder in ["lattice", "data"] {
        for file in std::fs::read_dir(root().join("models").join(folder)).expect("a folder of models") {
            let path = file.expect("a file").path();
            if !path.extension().is_some_and(|e| e == "xml" || e == "xta") {
                continue;
            }
            let model = path.to_str().expect("a name").to_string();
            let text = std::fs::read_to_string(&path).expect("a model");
            // Without lattices there is but one update.
            let updates: &[&str] = if folder == "lattice" { &["simple", "cover"] } else { &["simple"] };
            for update in updates.iter().filter(|_| !text.contains("clock ")) {
                let by = |n: &'static str| {
                    let assume: &[&str] = if *update == "cover" { &["--assume", "monotone"] } else { &[] };
                    said(&[&[&*model, "--update", update, "--workers", n], assume].concat())
                };
                let alone = by("1");
                assert_eq!(alone, by("2"), "{model}, {update}");
                assert_eq!(alone, by("3"), "{model}, {update}");
                compared += alone.len();
            }
        }
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn a_killed_process_goes_on_from_its_checkpoint() {
    let dir = std::env::temp_dir().join(format!("trellis-kept-{}", std::process::id()));
    let dir = dir.to_str().expect("a name");
    let model = ["lattice/leader.xml", "--const", "N=6", "--update", "simple"];
    let whole = said(&[&model[..], &["--workers", "1"]].concat());
    let mut resumed = 0;
    for (n, wait) in [20u64, 60, 120, 250].into_iter().enumerate() {
        _ = std::fs::remove_dir_all(dir);
        let mut child = Command::new(env!("CARGO_BIN_EXE_trellis"))
            .arg("check")
            .args(model)
            .args(["-q", "--workers", if n % 2 == 0 { "1" } else { "2" }, "--checkpoint", dir, "--every", "0s"])
            .current_dir(root().join("models"))
            .stdout(Stdio::null())
            .spawn()
            .expect("the binary runs");
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().expect("a process to end");
        child.wait().expect("it has ended");
        if Path::new(dir).join("head").exists() {
            resumed += 1;
            assert_eq!(said(&[&model[..], &["--workers", "2", "--resume", dir]].concat()), whole, "after {wait} ms");
        }
    }
    // Of another model it is refused; and it is, if it is not whole.
    if resumed > 0 {
        let other = trellis(&["check", "lattice/leader.xml", "--const", "N=5", "--update", "simple", "--resume", dir]);
        assert_eq!(other.status.code(), Some(2), "{}", stdout(&other));
        assert!(stderr(&other).contains("a checkpoint of another model"), "{}", stderr(&other));
        let nodes = std::fs::read_dir(dir).expect("a folder").flatten().map(|f| f.path());
        let nodes: Vec<_> = nodes.filter(|p| p.to_string_lossy().contains("nodes-")).collect();
        let mut bytes = std::fs::read(&nodes[0]).expect("nodes");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        std::fs::write(&nodes[0], bytes).expect("a file to write");
        let damaged = trellis(&[&["check"], &model[..], &["--resume", dir]].concat());
        assert!(stdout(&damaged).contains("damaged"), "{}", stdout(&damaged));
    }
    _ = std::fs::remove_dir_all(dir);
}

#[test]
fn what_cannot_be_shared_is_said() {
    let out = trellis(&["check", "lattice/leader.xml", "--workers", "2"]);
    assert!(stderr(&out).contains("joins that are refined"), "{}", stderr(&out));
    let out = trellis(&["check", "lattice/leader.xml", "--checkpoint", "nowhere"]);
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    let out = trellis(&["check", "lattice/leader.xml", "--workers", "2", "--order", "dfs"]);
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    let out = trellis(&["check", "c/lock.c", "--workers", "2"]);
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
}

/// Where the system gives little address space, there is an answer or none, and never an end without a word.
#[cfg(target_os = "linux")]
#[test]
fn a_small_address_space_is_no_crash() {
    for kilobytes in [160_000, 240_000] {
        let command = format!(
            "ulimit -v {kilobytes}; exec {} check -q lattice/database-work.xml --const N_USERS=6 --update simple --states 300000",
            env!("CARGO_BIN_EXE_trellis")
        );
        let out = Command::new("bash").args(["-c", &command]).current_dir(root().join("models")).output();
        let out = out.expect("a shell");
        assert_eq!(out.status.code(), Some(20), "{kilobytes}: {}{}", stdout(&out), stderr(&out));
        assert!(stdout(&out).contains("UNKNOWN"), "{}", stdout(&out));
    }
}
