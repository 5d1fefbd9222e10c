// Builds the page into dist/page.html: one file, styles and script inside, with {{data}} where the server or `--html` puts what it is opened with.
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const MOST = 400_000;
const here = new URL('.', import.meta.url).pathname;
const result = await build({
  entryPoints: [here + 'src/main.jsx'], bundle: true, minify: true, write: false, outdir: here + 'dist', format: 'iife', target: 'es2022',
  jsxFactory: 'h', jsxFragment: 'Fragment', charset: 'utf8', legalComments: 'none', logLevel: 'warning',
});
const text = ending => result.outputFiles.find(f => f.path.endsWith(ending)).text.trim();
// A function as replacement, because texts may have `$&` in them.
const page = readFileSync(here + 'src/page.html', 'utf8').trim()
  .replace('{{style}}', () => text('.css')).replace('{{script}}', () => text('.js').replaceAll('</script', '<\\/script')) + '\n';
const size = gzipSync(page).length;
console.log(`dist/page.html: ${page.length} bytes, ${size} compressed`);
if (size > MOST) throw new Error(`more than ${MOST} bytes`);
writeFileSync(here + 'dist/page.html', page);
