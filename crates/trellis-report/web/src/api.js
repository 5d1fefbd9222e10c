// What the page asks the server. Streams are server-sent events read by hand: `EventSource` can neither post nor send the token.
const token = new URLSearchParams(location.search).get('token') ?? '';
const headers = { 'x-trellis-token': token, 'content-type': 'application/json' };

async function send(what, body, signal) {
  const answer = await fetch(`api/${what}`, body ? { method: 'POST', headers, body: JSON.stringify(body), signal } : { headers, signal });
  if (answer.ok) return answer;
  const text = await answer.text();
  let why = text;
  try { why = JSON.parse(text).error ?? text; } catch { /* It is no JSON. */ }
  throw new Error(why || `the server answered ${answer.status}`);
}

export const ask = async (what, body, signal) => (await send(what, body, signal)).json();

// Calls `on` with each event: its name, and its data.
export async function stream(what, body, signal, on) {
  const reader = (await send(what, body, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      let name = 'message'; const lines = [];
      for (const line of event.split('\n')) {
        if (line.startsWith('event:')) name = line.slice(6).trim();
        else if (line.startsWith('data:')) lines.push(line.slice(line[5] === ' ' ? 6 : 5));
      }
      if (lines.length) on(name, JSON.parse(lines.join('\n')));
    }
  }
}
