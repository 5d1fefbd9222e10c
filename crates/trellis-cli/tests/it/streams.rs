//! What happens when nobody can read the answer, when a file cannot be written, and when somebody wants it to end.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{root, stderr, stdout, temporary, trellis};

const LEADER: &str = "lattice/leader.xml";

pub fn shell(script: &str) -> std::process::Output {
    Command::new("sh")
        .args(["-c", script])
        .current_dir(root().join("models"))
        .env("NO_COLOR", "1")
        .env("T", env!("CARGO_BIN_EXE_trellis"))
        .output()
        .expect("a shell")
}

#[test]
fn a_full_standard_output_is_an_error() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full");
        return;
    }
    let commands =
        ["check lattice/leader.xml --json", "check lattice/leader.xml", "help check", "--help", "schema report"];
    for command in commands {
        let out = shell(&format!("\"$T\" {command} > /dev/full"));
        assert_eq!(out.status.code(), Some(1), "{command}: {}", stderr(&out));
    }
    let out = shell("\"$T\" check lattice/leader.xml --json > /dev/full");
    assert!(stderr(&out).contains("cannot write to the standard output"), "{}", stderr(&out));
}

#[test]
fn readers_that_go_away_are_no_error() {
    // The pipe is closed before anything is written: the shell waits for the reader first.
    for command in ["check lattice/leader.xml", "check no-such-file.xml", "check lattice/leader.xml --audit"] {
        let out = shell(&format!("{{ sleep 0.2; \"$T\" {command}; echo $? > /dev/fd/9; }} 9>&2 2>&1 | true; sleep 1"));
        let said = stderr(&out);
        assert!(!said.contains("panicked"), "{command}: {said}");
        let expected = if command.contains("no-such") { "2" } else { "0" };
        assert_eq!(said.trim(), expected, "{command}");
    }
}

#[test]
fn notes_that_cannot_be_written_change_nothing() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let out = shell("\"$T\" check lattice/leader.xml --audit 2> /dev/full");
    assert_eq!(out.status.code(), Some(0));
    assert!(stdout(&out).contains("SAFE"));
}

#[test]
fn a_file_that_cannot_be_written_is_an_output_error() {
    let (folder, _) = temporary("x");
    let nowhere = folder.path().join("no/such/folder/c.json").display().to_string();
    for option in ["--certificate", "--html"] {
        let out = trellis(&["check", LEADER, "-q", option, &nowhere]);
        assert_eq!(out.status.code(), Some(1), "{option}");
        assert!(stderr(&out).starts_with("error: cannot write "), "{}", stderr(&out));
        assert!(!stderr(&out).contains("trellis help"), "{}", stderr(&out));
    }
}

/// Where the system lets us limit the size of files, as a full disk would.
#[test]
fn a_full_disk_leaves_the_old_evidence() {
    let (folder, path) = temporary("c.json");
    let whole = trellis(&["check", LEADER, "--update", "simple", "-q", "--certificate", &path]);
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    let before = std::fs::read_to_string(&path).expect("evidence");
    // Half a kilobyte is too little; without a handler the process would be ended by a signal, so that one is ignored.
    let out = shell(&format!(
        "trap '' XFSZ; ulimit -f 1 || exit 77; \"$T\" check {LEADER} --update simple -q --certificate {path}"
    ));
    if out.status.code() == Some(77) {
        eprintln!("skipped: the shell cannot limit the size of files");
        return;
    }
    assert_eq!(out.status.code(), Some(1), "{}{}", stdout(&out), stderr(&out));
    assert_eq!(std::fs::read_to_string(&path).expect("evidence"), before);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_request_to_end_is_an_interrupt() {
    let (_gone, model) = temporary("long.xta");
    let text = "int[0, 2000000000] x; process P() { state A; init A; trans A -> A { assign x = x + 1; }; } system P;";
    std::fs::write(&model, text).expect("writable");
    for signal in ["TERM", "INT"] {
        let child = Command::new(env!("CARGO_BIN_EXE_trellis"))
            .args(["check", &model, "-p", "A[] x < 2000000000", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        std::thread::sleep(Duration::from_millis(800));
        let sent = shell(&format!("kill -{signal} {}", child.id()));
        assert!(sent.status.success(), "{}", stderr(&sent));
        let out = child.wait_with_output().expect("it ends");
        assert_eq!(out.status.code(), Some(130), "{signal}: {}", stderr(&out));
        assert!(stdout(&out).contains("\"verdict\":\"UNKNOWN\""), "{signal}: {}", stdout(&out));
    }
}

/// Killed at any moment, with no chance to clean up: each file is the old one or the new one.
#[cfg(unix)]
#[test]
fn whoever_is_killed_leaves_whole_files() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(25u32);
    let (_gone, proof) = temporary("proof.json");
    let write = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trellis"));
        command.current_dir(root().join("models")).args([
            "check",
            LEADER,
            "--update",
            "simple",
            "-q",
            "--certificate",
            &proof,
        ]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let started = std::time::Instant::now();
    assert!(write().status().expect("a run").success());
    let takes = started.elapsed();
    let new = std::fs::read(&proof).expect("a proof");
    let (mut kept, mut replaced) = (0, 0);
    for n in 0..runs {
        std::fs::write(&proof, "old").expect("written");
        let mut child = write().spawn().expect("a process");
        // Over the whole run, and a little beyond.
        std::thread::sleep(takes * (n * 7919 % runs) * 11 / (runs * 10));
        child.kill().expect("it was there");
        child.wait().expect("it is gone");
        let found = std::fs::read(&proof).expect("a file");
        match found {
            _ if found == b"old" => kept += 1,
            _ if found == new => replaced += 1,
            _ => panic!(
                "after a kill the file is neither the old one nor the new one:\n{}",
                String::from_utf8_lossy(&found)
            ),
        }
    }
    println!("{kept} times the old file, {replaced} times the new one");
}
