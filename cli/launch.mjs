#!/usr/bin/env node
// The entry point of every command of the repository. It is plain Node without dependencies, so that it runs in a fresh
// clone: it installs packages, builds when sources have changed, and starts the command. Everything else is TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, SOURCE_FOLDERS } from './prepare/build.mjs';
import { buildKafkaClient, install } from './prepare/install.mjs';
import { createSteps, StepFailed } from './prepare/steps.mjs';
import { binaries, root, stamps } from './prepare/tools.mjs';

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

/** Programs that live in load-tests, each with a folder of its own. */
const PROOFS = new Map([
  ['faults', 'proofs/faults'],
  ['fuzz', 'proofs/interface-fuzzer'],
  ['mutations', 'proofs/mutations'],
  ['nightly', 'proofs/nightly'],
  ['oracle', 'proofs/usage-oracle'],
  ['pricing:check', 'proofs/pricing-oracle'],
  ['golden', 'proofs/golden-invoices'],
  ['keep-release', 'releases'],
  ['simulate', 'proofs/simulation'],
  ['speed', 'speed'],
]);

/** Commands of those who change the code: the compiler checks types. Others run what is there. */
const CHECKED = new Set(['build', 'check', 'test', 'examples', 'measure', ...PROOFS.keys()]);
const ON_KAFKA = new Set(['kafka', 'faults', 'measure', 'nightly', 'speed']);

/** Whether the command may use Kafka. Single test files skip what needs it, unless it is required. */
function mayUseKafka(verb, parameters) {
  if ((process.env.KAFKA_BROKERS ?? '') !== '' || ON_KAFKA.has(verb)) return true;
  return verb === 'test' && (parameters.length === 0 || process.env.REQUIRE_KAFKA === '1');
}

/** Installs and builds what the command needs and is missing or out of date. */
async function prepare(verb, parameters, onRoutes) {
  const step = createSteps(process.stderr);
  try {
    await install(step);
    await build(step, { isHurried: !CHECKED.has(verb), onRoutes });
    if (mayUseKafka(verb, parameters)) await buildKafkaClient(step);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    process.exit(error.exitCode);
  }
}

async function main() {
  const [verb = 'start', ...parameters] = process.argv.slice(2);
  requireNode();
  // The checks need the generated files but not what the compiler writes.
  const isChecked = verb === 'check' || (verb === 'test' && parameters.length === 0);
  let checks = Promise.resolve(true);
  await prepare(verb, parameters, () => {
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
