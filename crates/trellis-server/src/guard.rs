//! Who may ask: whoever knows the token, from a page of this server.
//!
//! A page of somebody else in the same browser can send requests to 127.0.0.1, too. It knows no token; the `Host` header stops names that
//! were made to mean 127.0.0.1 (DNS rebinding), and `Origin` stops its scripts.

use axum::http::{HeaderMap, StatusCode, header};

/// The header that the token is in.
pub const TOKEN: &str = "x-trellis-token";

/// What a request must show.
pub struct Guard {
    token: String,
    port: u16,
}

impl Guard {
    /// With a token that nobody can guess.
    pub fn new(port: u16) -> Result<Guard, String> {
        Ok(Guard { token: random()?, port })
    }

    /// What to open in a browser.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Is it the token?
    pub fn knows(&self, token: &str) -> bool {
        // As long for a wrong byte as for a right one.
        let differ = token.bytes().zip(self.token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        token.len() == self.token.len() && differ == 0
    }

    /// Do the headers name this server?
    pub fn is_ours(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let text = |name| headers.get(name).map(|v| v.to_str().unwrap_or_default());
        let host = text(header::HOST).unwrap_or_default();
        if !hosts.iter().any(|h| h == host) {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        }
        let origin = text(header::ORIGIN);
        match origin.is_none_or(|origin| origin.strip_prefix("http://") == Some(host)) {
            true => Ok(()),
            false => Err(StatusCode::FORBIDDEN),
        }
    }

    /// May this be asked?
    pub fn admit(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        self.is_ours(headers)?;
        let token = headers.get(TOKEN).and_then(|v| v.to_str().ok()).unwrap_or_default();
        if self.knows(token) { Ok(()) } else { Err(StatusCode::UNAUTHORIZED) }
    }
}

/// 128 random bits.
pub fn random() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| format!("no random numbers: {e}"))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}
