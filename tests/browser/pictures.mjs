// The pictures of the book and the README, taken from the page: `npm --prefix crates/trellis-report/web run pictures`. With `--check` nothing is
// written: it fails if a picture that is kept no longer shows what the page does.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chromium, model, open, quarter, root, serve, settle } from './lib.mjs';

const check = process.argv.includes('--check'), stale = [];

const folder = `${root}book/src/pictures/`;
mkdirSync(folder, { recursive: true });
const server = await serve(['models/timed/engine-classic.xta', 'models/coverability/mesi.spec']), browser = await chromium();
// As WebP, a third of a PNG.
async function keep(page, name) {
  await page.waitForTimeout(150);
  const shot = (await page.screenshot()).toString('base64'), file = `${folder}${name}.webp`;
  if (check) {
    const differs = existsSync(file) ? await quarter(browser, shot, readFileSync(file).toString('base64'), 'webp') : 1;
    if (differs > 0.03) stale.push(name);
    console.log(`${file.slice(root.length)}: ${(differs * 100).toFixed(1)} % differ`);
    return page.context().close();
  }
  const tool = await open(browser, 'about:blank');
  const webp = await tool.evaluate(async data => {
    const i = new Image(); i.src = `data:image/png;base64,${data}`; await i.decode();
    const c = new OffscreenCanvas(i.width, i.height); c.getContext('2d').drawImage(i, 0, 0);
    return [...new Uint8Array(await (await c.convertToBlob({ type: 'image/webp', quality: 0.85 })).arrayBuffer())];
  }, shot);
  writeFileSync(file, Buffer.from(webp));
  await tool.context().close(); await page.context().close();
  console.log(`book/src/pictures/${name}.webp: ${webp.length} bytes`);
}
const press = async (page, key, times) => { for (let i = 0; i < times; i++) await page.keyboard.press(key); };

// A run: model, steps, values and charts, all at the same step.
const gear = await open(browser, model(server, 'models/timed/engine-classic.xta'), { width: 1280, height: 800 });
await settle(gear);
await press(gear, 'ArrowRight', 5);
await keep(gear, 'run');
// The states of a statechart, on a phone in the dark.
const oven = await open(browser, model(server, 'examples/microwave.scxml'), { width: 420, height: 800, dark: true });
await settle(oven);
await press(oven, 'ArrowRight', 1);
await keep(oven, 'narrow');
// A proof in words of the program.
const lock = await open(browser, model(server, 'examples/lock.c'), { width: 1280, height: 720 });
await settle(lock);
await keep(lock, 'proof');
// The state space of a protocol, some of it unfolded.
const states = await open(browser, model(server, 'examples/philosophers.pnml'), { width: 1280, height: 720 });
await settle(states);
await states.getByRole('button', { name: 'States', exact: true }).click();
await states.waitForSelector('[aria-label="Graph of states"] .n');
await states.getByRole('button', { name: 'Unfold 25' }).click();
await states.waitForFunction(() => /that is all/.test(document.querySelector('.model .ph').textContent), null, { timeout: 5000 }).catch(() => {});
await keep(states, 'states');
// Lazy abstraction of a protocol, in its second round.
const lazy = await open(browser, model(server, 'models/coverability/mesi.spec'), { width: 1280, height: 720 });
await settle(lazy);
await lazy.locator('.opts summary').click();
await lazy.locator('.opts input').fill('--engine wsts');
await lazy.locator('.opts input').press('Enter');
await settle(lazy);
await lazy.getByRole('button', { name: 'Proof', exact: true }).first().click();
await lazy.getByRole('button', { name: 'Refinement' }).click();
await lazy.getByRole('button', { name: 'The next round' }).click();
await keep(lazy, 'refinement');
await browser.close();
server.stop();
if (stale.length) console.log(`not what the page shows any more: ${stale.join(', ')}; npm --prefix crates/trellis-report/web run pictures takes them anew`);
process.exit(stale.length ? 1 : 0);
