# The program in a small image:
#   docker build -t trellis . && docker run --rm trellis check models/lattice/leader.xml
#   docker run --rm -v "$PWD:/work" -w /work trellis check model.xml
FROM rust:1.91-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo install --locked --path crates/trellis-cli --root /opt/trellis

FROM debian:bookworm-slim
# C programs are preprocessed by gcc.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/trellis/bin/trellis /usr/local/bin/trellis
COPY models /trellis/models
WORKDIR /trellis
ENTRYPOINT ["trellis"]
CMD ["help"]
