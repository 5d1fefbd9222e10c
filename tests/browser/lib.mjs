// What the browser tests and the book's pictures share: a server, a browser, and a page that says when it has come to rest.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const need = createRequire(`${root}crates/trellis-report/web/package.json`);
export const bin = process.env.TRELLIS_BIN ?? [`${root}target/debug/trellis`, `${root}target/release/trellis`].find(existsSync);

export async function serve(args, cwd = root) {
  const process_ = spawn(bin, ['serve', ...args], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((done, fail) => {
    let text = '';
    process_.stdout.on('data', d => { text += d; const m = text.match(/open (http\S+)/); if (m) done(m[1]); });
    process_.on('exit', code => fail(new Error(`the server has ended with ${code}: ${text}`)));
  });
  const url = new URL(address);
  return { address, origin: url.origin, host: url.host, port: +url.port, token: url.searchParams.get('token'), stop: () => process_.kill() };
}

export function chromium() {
  const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(p => p && existsSync(p));
  if (!executablePath) throw new Error('no Chromium: apt-get install chromium, or say where it is with CHROMIUM=…');
  return need('playwright-core').chromium.launch({ executablePath, args: ['--no-sandbox', '--font-render-hinting=none', '--enable-precise-memory-info'] });
}

// A page in a session of its own. What goes wrong in it is in `wrong`.
export async function open(browser, address, { width = 1400, height = 900, dark = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.wrong = []; page.asked = [];
  page.on('pageerror', e => page.wrong.push(String(e)));
  page.on('console', m => { if (m.type() === 'error') page.wrong.push(m.text()); });
  page.on('request', r => page.asked.push(r.url()));
  // While the page is worked on: dist/page.html as it is now, not as it was when the program was built.
  if (process.env.TRELLIS_PAGE) await page.route(u => u.pathname === '/' && u.hostname === '127.0.0.1', r => r.fulfill({ contentType: 'text/html', body: readFileSync(`${root}crates/trellis-report/web/dist/page.html`, 'utf8').replace('{{data}}', '{"live":true,"tool":"trellis","answers":[]}') }));
  if (address) await page.goto(address);
  return page;
}
export const model = (server, name, hash = '') => `${server.address}&model=${encodeURIComponent(name)}${hash}`;

// Read, all properties answered, nothing moving.
export async function settle(page, timeout = 30_000) {
  await page.waitForFunction(() => document.querySelector('.app:not(.start)') && !document.querySelector('.busybar')
    && ![...document.querySelectorAll('.props .chip')].some(c => /^(running|waiting)$/.test(c.textContent)), null, { timeout });
  await page.waitForTimeout(60);
}

// A picture of a page, made small: PNG, a quarter as wide. With another (`type`, base64), how much of the two differs, from 0 to 1: fonts and
// times may differ a little, what is where may not.
const QUARTER = async (shot, old, type) => {
  const read = async (data, type) => { const i = new Image(); i.src = `data:image/${type};base64,${data}`; await i.decode(); return i; };
  const now = await read(shot, 'png'), w = Math.round(now.width / 4), h = Math.round(now.height / 4), c = new OffscreenCanvas(w, h), g = c.getContext('2d', { willReadFrequently: true });
  g.imageSmoothingQuality = 'high'; g.drawImage(now, 0, 0, w, h);
  if (!old) { const blob = await c.convertToBlob(); return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer()))); }
  const x = g.getImageData(0, 0, w, h).data, before = await read(old, type), isSame = s => before.width === s.width && before.height === s.height;
  if (!isSame(now) && !isSame(c)) return 1;
  g.drawImage(before, 0, 0, w, h);
  const y = g.getImageData(0, 0, w, h).data;
  let bad = 0;
  for (let i = 0; i < x.length; i += 4) if (Math.abs(x[i] - y[i]) + Math.abs(x[i + 1] - y[i + 1]) + Math.abs(x[i + 2] - y[i + 2]) > 90) bad++;
  return bad / (w * h);
};
export async function quarter(browser, shot, old = null, type = 'png') {
  const tool = await open(browser, 'about:blank'), result = await tool.evaluate(`(${QUARTER})(${JSON.stringify(shot)}, ${JSON.stringify(old)}, ${JSON.stringify(type)})`);
  await tool.context().close();
  return result;
}
