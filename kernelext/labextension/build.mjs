// Builds dist/, the scripts in figures' HTML and what tests try of them, from src/ and from the packages pinned in package-lock.json. The
// same sources give the same bytes:
//
//	npm ci --ignore-scripts && npm run build
//
// With three folders as arguments it builds there instead.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = resolve(process.argv[2] ?? here + 'dist');
const scripts = resolve(process.argv[3] ?? here + '../../widgets/render/scripts'), tried = resolve(process.argv[4] ?? here + '../browser/testdata');
const at = (path) => resolve(here, path);
const json = (path) => JSON.parse(readFileSync(at(path), 'utf8'));
const write = (path, content) => writeFileSync(resolve(dist, path), content);
const common = { bundle: true, minify: true, format: 'iife', charset: 'ascii', legalComments: 'none', absWorkingDir: here };

rmSync(resolve(dist, 'static'), { recursive: true, force: true });
mkdirSync(resolve(dist, 'static'), { recursive: true });
await extension();
await echarts();
await html();

// The extension itself. Its file is named after its content, so that a browser never runs one of another version.
async function extension() {
  const pkg = json('package.json');
  const out = await build({
    ...common, entryPoints: [at('src/container.ts')], target: 'es2021', loader: { '.css': 'text' }, write: false,
    plugins: [{ name: 'css', setup: (b) => b.onLoad({ filter: /\.css$/ }, (f) => ({ contents: squeeze(readFileSync(f.path, 'utf8')), loader: 'text' })) }],
    banner: { js: `/*! Halftone ${pkg.version}, Apache-2.0 */` },
  });
  const code = out.outputFiles[0].contents;
  const load = `static/remoteEntry.${createHash('sha256').update(code).digest('hex').slice(0, 16)}.js`;
  write(load, code);
  // What JupyterLab reads to find the extension.
  write('package.json', JSON.stringify({
    name: pkg.name, version: pkg.version, description: pkg.description, license: pkg.license,
    jupyterlab: { extension: true, _build: { load, extension: './extension' } },
  }, null, 2) + '\n');
  console.log(load, code.length);
}

// squeeze takes out what only people read in a style sheet.
function squeeze(css) {
  return css.replace(/\/\*.*?\*\//gs, '').replace(/\s+/g, ' ').replace(/ ?([{};,>]) ?/g, '$1').trim();
}

// The part of Apache ECharts that the HTML face of a figure loads in pages without this extension's renderer.
async function echarts() {
  const { version } = json('node_modules/echarts/package.json');
  const out = await build({
    ...common, entryPoints: [at('echarts.js')], target: 'es2018', tsconfigRaw: '{}', write: false, define: { 'process.env.NODE_ENV': '"production"' },
    banner: { js: `/*! Apache ECharts ${version}, Apache-2.0, with ZRender, BSD-3-Clause; licenses and notices beside this file */` },
  });
  const code = out.outputFiles[0].contents;
  write('static/echarts.min.js', code);
  const notices = {
    'LICENSE-echarts': 'echarts/LICENSE',
    'NOTICE-echarts': 'echarts/NOTICE',
    'LICENSE-d3': 'echarts/licenses/LICENSE-d3', // code inside echarts
    'LICENSE-zrender': 'zrender/LICENSE',
  };
  for (const [to, from] of Object.entries(notices)) copyFileSync(at(`node_modules/${from}`), resolve(dist, 'static', to));
  write('static/echarts.json', JSON.stringify({
    name: 'echarts', version, license: 'Apache-2.0', file: 'echarts.min.js', bytes: code.length,
    sha256: createHash('sha256').update(code).digest('hex'),
  }, null, 2) + '\n');
  console.log('static/echarts.min.js', code.length);
}

// The scripts in figures' HTML: each is the body of a function of `data`, and the smaller the better, since every figure carries one. They use
// what the extension uses, where both work something out.
async function html() {
  for (const kind of ['bits', 'charts', 'decisions', 'exponents', 'picture', 'policy']) await script(`src/html/${kind}.ts`, scripts, kind);
  await script('src/float.ts', tried, 'float', { globalName: 'float' });
}

async function script(entry, dir, name, options = {}) {
  mkdirSync(dir, { recursive: true });
  const out = await build({ ...common, entryPoints: [at(entry)], target: 'es2020', charset: 'utf8', write: false, ...options });
  const code = out.outputFiles[0].contents;
  writeFileSync(resolve(dir, `${name}.js`), code);
  console.log(`${name}.js`, code.length);
}
