/**
 * Makes the package of the client in client/dist, or in the folder that is given: compiled, with
 * types, ready for `npm publish`. Needs the generated types: `npm run build` writes them.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const client = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(client, 'dist');
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

rmSync(folder, { recursive: true, force: true });
const outputs = ['--outDir', folder, '--incremental', 'false', '--tsBuildInfoFile', 'null'];
execFileSync(process.execPath, [tsc, '-p', client, ...outputs], { stdio: 'inherit' });
for (const name of ['package.json', 'README.md']) {
  copyFileSync(join(client, name), join(folder, name));
}
copyFileSync(join(dirname(client), 'LICENSE'), join(folder, 'LICENSE'));
