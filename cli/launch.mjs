#!/usr/bin/env node
// The entry point of every command of the repository. It is plain Node without dependencies, so that it runs in a fresh
// clone: it installs packages, builds when sources have changed, and starts the command. Everything else is TypeScript.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binaries = join(root, 'node_modules', '.bin');
const stamps = join(root, 'node_modules', '.cache', 'minutebook');
const TESTS_STAMP = join(root, 'dist', '.built-for-tests');
const SOURCE_FOLDERS = [
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
  'docs',
  '.config',
];

function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 12)) return;
  fail(`Node ${process.versions.node} is too old: Minutebook needs Node 20.12 or later.`);
}

/** Runs a tool to its end with its output on ours. Exits with its exit code when that is not 0. */
async function run(command, parameters, options = {}) {
  const child = spawn(command, parameters, { cwd: root, stdio: 'inherit', ...options });
  child.once('error', (error) => fail(`${command}: ${error.message}`));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) process.exit(code ?? 1);
}

function isStamped(name, value) {
  const file = join(stamps, name);
  return existsSync(file) && readFileSync(file, 'utf8') === value;
}

function stamp(name, value) {
  mkdirSync(stamps, { recursive: true });
  writeFileSync(join(stamps, name), value);
}

/** `npm ci` once per lock file and Node ABI: native modules are built for one ABI only. */
async function install() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const wanted = `${createHash('sha256').update(lock).digest('hex')} ${process.versions.modules}`;
  if (isStamped('installed', wanted)) return;
  say(
    'Installing npm packages (the Kafka client is compiled: two minutes, on a busy machine up to eight) …',
  );
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  await run(
    npm,
    ['ci', '--no-audit', '--no-fund', '--foreground-scripts=false', '--progress=true'],
    {
      env: { ...process.env, npm_config_loglevel: process.env.npm_config_loglevel ?? 'error' },
      // Standard output is only for what the command prints.
      stdio: ['inherit', process.stderr, 'inherit'],
    },
  );
  stamp('installed', wanted);
}

/** Adds the names, sizes and times of all sources to the hash, which changes with any of them. */
function fingerprint(folder, hash) {
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.name === 'generated' || entry.name === 'results') continue;
    if (entry.isDirectory()) fingerprint(path, hash);
    else if (/\.(ts|mjs|json)$/.test(entry.name)) {
      const { mtimeMs, size } = statSync(path);
      hash.update(`${path} ${mtimeMs} ${size}\n`);
    }
  }
}

/** Builds what has changed. `onRoutes` is called once, when all generated files are there. */
async function build(onRoutes = () => undefined) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  hash.update(readFileSync(join(root, 'tsconfig.json')));
  for (const folder of SOURCE_FOLDERS) fingerprint(join(root, folder), hash);
  const wanted = hash.digest('hex');
  const program = join(root, 'dist', 'cli', 'minutebook.js');
  if (isStamped('built', wanted) && existsSync(program) && existsSync(TESTS_STAMP)) {
    onRoutes();
    return;
  }
  const startedAt = new Date();
  say('Building …');
  await run(process.execPath, [join(root, 'cli', 'build-routes.mjs')]);
  onRoutes();
  await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')]);
  // The tests build again when a source is newer than this file (load-tests/harness/build.ts).
  writeFileSync(TESTS_STAMP, '');
  utimesSync(TESTS_STAMP, startedAt, startedAt);
  stamp('built', wanted);
}

/**
 * Runs the command as a child and exits as it does, after `besides` has ended. The terminal sends it
 * Ctrl-C; other signals are passed on.
 */
function handOver(command, parameters, besides = Promise.resolve()) {
  const child = spawn(command, parameters, { cwd: root, stdio: 'inherit' });
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => {
    void besides.then(() => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
  });
  return child;
}

const cached = (name) => ['--cache', '--cache-location', join(stamps, name)];
/** Types are not checked again, since the build has just checked them. */
const CHECKS = [
  [
    'lint',
    'eslint',
    ['-c', '.config/eslint.config.js', '--max-warnings=0', ...cached('eslint'), '.'],
  ],
  [
    'format',
    'prettier',
    [
      '--config',
      '.config/prettier.json',
      '--check',
      '--log-level',
      'warn',
      ...cached('prettier'),
      '**/*.{ts,mjs,js,cjs}',
    ],
  ],
  [
    'imports',
    'depcruise',
    ['--config', '.config/dependency-cruiser.cjs', '--output-type', 'err', ...SOURCE_FOLDERS],
  ],
  ['dead code', 'knip', ['--config', '.config/knip.json', '--no-progress']],
];

/** Resolves to whether the check passed; its output is shown when it did not. */
function runCheck([name, tool, parameters]) {
  const startedAt = Date.now();
  return new Promise((resolve) => {
    const child = spawn(join(binaries, tool), parameters, { cwd: root });
    process.once('exit', () => child.kill());
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => fail(error.message));
    child.on('close', (code) => {
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
      say(`check: ${name} ${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
      if (code !== 0) say(output);
      resolve(code === 0);
    });
  });
}

/**
 * Checks style, imports and dead code, one after the other beside what else happens. Resolves to
 * whether all passed, at the first one that did not.
 */
async function check() {
  for (const each of CHECKS) {
    if (!(await runCheck(each))) return false;
  }
  return true;
}

/** Runs all tests beside the checks. A check that fails ends the tests at once. */
async function testBeside(checks, config) {
  const tests = handOver(join(binaries, 'vitest'), ['run', '--config', config], checks);
  if (await checks) return;
  tests.kill('SIGTERM');
  process.exit(1);
}

/** Long runs that live in load-tests, each with a folder of its own. */
const PROOFS = new Map([
  ['faults', 'proofs/faults'],
  ['fuzz', 'proofs/interface-fuzzer'],
  ['mutations', 'proofs/mutations'],
  ['nightly', 'proofs/nightly'],
  ['oracle', 'proofs/usage-oracle'],
  ['pricing:check', 'proofs/pricing-oracle'],
  ['golden', 'proofs/golden-invoices'],
  ['simulate', 'proofs/simulation'],
  ['speed', 'speed'],
]);

async function main() {
  const [verb = 'start', ...parameters] = process.argv.slice(2);
  requireNode();
  await install();
  // The checks need the generated files but not what the compiler writes.
  const isChecked = verb === 'check' || (verb === 'test' && parameters.length === 0);
  let checks = Promise.resolve(true);
  await build(() => {
    if (isChecked) checks = check();
  });
  if (verb === 'build') return;
  const config = join(root, '.config', 'vitest.config.ts');
  if (verb === 'check') {
    if (!(await checks)) process.exit(1);
    return handOver(join(binaries, 'vitest'), ['run', '--config', config, '--project', 'fast']);
  }
  if (verb === 'test') {
    if (isChecked) return testBeside(checks, config);
    return handOver(join(binaries, 'vitest'), ['run', '--config', config, ...parameters]);
  }
  if (verb === 'examples') {
    // The test that compares the examples with what the product answers writes them instead.
    process.env.RECORD_EXAMPLES = '1';
    const recorder = 'billing-api/edge/openapi-examples.http.test.ts';
    return handOver(join(binaries, 'vitest'), ['run', '--config', config, recorder]);
  }
  const proofFolder = PROOFS.get(verb);
  if (proofFolder !== undefined) {
    const proof = join(root, 'dist', 'load-tests', proofFolder, 'main.js');
    return handOver(process.execPath, ['--enable-source-maps', proof, ...parameters]);
  }
  if (verb === 'measure') {
    const [name = '', ...options] = parameters;
    const script = join(root, 'dist', 'load-tests', 'speed', 'questions', `${name}.js`);
    if (!/^[a-z-]+$/.test(name) || !existsSync(script)) fail(`there is no measurement "${name}"`);
    return handOver(process.execPath, ['--enable-source-maps', script, ...options]);
  }
  handOver(process.execPath, [
    '--enable-source-maps',
    join(root, 'dist', 'cli', 'minutebook.js'),
    verb,
    ...parameters,
  ]);
}

await main();
