import { createHash } from 'node:crypto';
import {
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { compiler, isStamped, root, runTool, stamp } from './tools.mjs';

const dist = join(root, 'dist');
const TESTS_STAMP = join(dist, '.built-for-tests');
/** Exit code of the compiler when it found errors and wrote the JavaScript all the same. */
const WRITTEN_WITH_ERRORS = 2;
export const SOURCE_FOLDERS = [
  'contract',
  'runtime',
  'event-log',
  'ingest',
  'aggregator',
  'billing-api',
  'sql',
  'clickhouse',
  'load-tests',
  'cli',
  'client',
  'web',
  'docs',
  '.config',
];

/** Adds the names, sizes and times of all sources to the hash, which changes with any of them. */
function addSources(folder, hash) {
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.name === 'generated' || entry.name === 'results') continue;
    if (entry.isDirectory()) addSources(path, hash);
    else if (/\.(tsx?|mjs|json|css|html|svg)$/.test(entry.name)) {
      const { mtimeMs, size } = statSync(path);
      hash.update(`${path} ${mtimeMs} ${size}\n`);
    }
  }
}

function fingerprintOfSources() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  hash.update(readFileSync(join(root, 'tsconfig.json')));
  for (const folder of SOURCE_FOLDERS) addSources(join(root, folder), hash);
  return hash.digest('hex');
}

/**
 * Builds what has changed. `onRoutes` is called once, when all generated files are there.
 * @param isHurried leaves out the check of types, which takes most of the time. The next build that
 *   is not hurried makes up for it.
 * @param onTypeErrors is told what the compiler found, and the build goes on with what it wrote all
 *   the same. Without it, an error ends the build.
 */
export async function build(step, { isHurried, onRoutes = () => undefined, onTypeErrors }) {
  const wanted = fingerprintOfSources();
  const isThere = existsSync(join(dist, 'cli', 'minutebook.js')) && existsSync(TESTS_STAMP);
  const isChecked = isThere && isStamped('built', wanted);
  if (isChecked || (isThere && isHurried && isStamped('compiled', wanted))) {
    onRoutes();
    return;
  }
  const startedAt = new Date();
  const generator = join(root, 'cli', 'build-routes.mjs');
  await step('Generating the routes', () => runTool(process.execPath, [generator]));
  onRoutes();
  const options = isHurried ? ['--noCheck'] : [];
  let found = '';
  await step('Compiling', async () => {
    const outcome = await runTool(process.execPath, [compiler, ...options]);
    if (outcome.code !== WRITTEN_WITH_ERRORS || onTypeErrors === undefined) return outcome;
    found = outcome.said.trim();
    return { ...outcome, code: 0 };
  });
  await step('Building the console', async () => {
    const built = await runTool(process.execPath, [join(root, 'web', 'build.mjs')]);
    if (built.code !== 0 || isHurried) return built;
    // Its types are those of browsers, so it is a project of its own.
    const checked = await runTool(process.execPath, [compiler, '--project', 'web']);
    if (checked.code === 0 || onTypeErrors === undefined) return checked;
    found = `${found}\n${checked.said}`.trim();
    return { ...checked, code: 0 };
  });
  // The tests build again when a source is newer than this file (load-tests/harness/build.ts).
  writeFileSync(TESTS_STAMP, '');
  utimesSync(TESTS_STAMP, startedAt, startedAt);
  if (found === '') stamp(isHurried ? 'compiled' : 'built', wanted);
  else onTypeErrors(found);
}
