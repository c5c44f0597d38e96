// Builds dist/static/echarts.min.js from the packages pinned in package-lock.json, and records what it was built from:
//
//	npm ci && npm run build
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const dist = new URL('dist/static/', import.meta.url);
const root = new URL('node_modules/echarts/', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root)));
mkdirSync(dist, { recursive: true });

const out = new URL('echarts.min.js', dist);
await build({
  entryPoints: [new URL('entry.js', import.meta.url).pathname],
  outfile: out.pathname,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2018',
  charset: 'ascii',
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  banner: { js: `/*! Apache ECharts ${version}, Apache-2.0, with ZRender, BSD-3-Clause; licenses and notices beside this file */` },
});
const notices = {
  'LICENSE-echarts': 'echarts/LICENSE',
  'NOTICE-echarts': 'echarts/NOTICE',
  'LICENSE-d3': 'echarts/licenses/LICENSE-d3', // code inside echarts
  'LICENSE-zrender': 'zrender/LICENSE',
};
for (const [to, from] of Object.entries(notices)) copyFileSync(new URL(`node_modules/${from}`, import.meta.url), new URL(to, dist));

const bytes = readFileSync(out);
const record = {
  name: 'echarts',
  version,
  license: 'Apache-2.0',
  file: 'echarts.min.js',
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
};
writeFileSync(new URL('echarts.json', dist), JSON.stringify(record, null, 2) + '\n');
console.log(record);
