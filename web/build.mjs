/**
 * Builds the console into dist/console, or the folder that is given: one script, one style sheet and a page, which billing-api
 * serves. Their names stay the same in every release, so that no open page asks for a file that is gone.
 */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const web = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(dirname(web), 'dist', 'console');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await build({
  entryPoints: [join(web, 'console.tsx'), join(web, 'console.css')],
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  // Comments of licences stay at the end of the script.
  legalComments: 'eof',
  logLevel: 'warning',
});
for (const name of ['index.html', 'icon.svg']) copyFileSync(join(web, name), join(folder, name));
