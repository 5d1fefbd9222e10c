# Shortcuts. `just` is optional: each recipe is a command or two that you can type. `just --list` shows them.

# Tests of one crate, the inner loop: `just test trellis-order`; without a name, of the whole workspace (minutes).
test crate="":
    cargo test {{ if crate == "" { "--workspace" } else { "--package " + crate } }}

# Everything that a change must pass, in the order of .ci/run.
ci:
    bash .ci/run

# The papers' tables: counts that must not change, and times as ratios.
bench:
    cargo run --release --locked -- bench lattice --quick
    cargo run --release --locked -- bench lazy

# Builds the manual into book/book (needs mdbook); then checks that its commands print what it shows.
book:
    mdbook build book
    cargo test --package trellis-cli --test it book

# Formats all sources.
fmt:
    cargo fmt --all

# Clippy with warnings denied, and the rules of the code base (arrows, cycles, file length, words).
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo test --package trellis-cli --test tidy

# Checks one model with a release build: `just one-model models/c/lock.c --engine bmc`.
one-model model *options:
    cargo run --release --quiet -- check {{ model }} {{ options }}

# Makes the packages as crates.io would get them, without uploading.
package:
    cargo package --workspace --allow-dirty --no-verify

# Changed models, questions and scripts for every reader, in process, for so long: `just fuzz 10m`, `just fuzz 90s`.
fuzz time="1m":
    TRELLIS_FUZZ={{ if time =~ "m$" { trim_end_match(time, "m") + "*60" } else { trim_end_match(time, "s") } }} bash -c 'TRELLIS_FUZZ=$(($TRELLIS_FUZZ)) cargo test --release --package trellis-cli --test trust -- fuzz --nocapture'
