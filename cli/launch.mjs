#!/usr/bin/env node
// The entry point of every command of the repository. It is plain Node without dependencies, so that it runs in a fresh
// clone: it installs packages, builds when sources have changed, and starts the command. Everything else is TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './prepare/build.mjs';
import { endOfRun, runChecks } from './prepare/checks.mjs';
import { buildKafkaClient, install } from './prepare/install.mjs';
import { buildPages, buildPagesBeside } from './prepare/pages.mjs';
import { createSteps, StepFailed } from './prepare/steps.mjs';
import { root } from './prepare/tools.mjs';

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const RUN_TESTS = ['run', '--config', join(root, '.config', 'vitest.config.ts')];

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

/** Resolves to the exit code of a child. The terminal sends it Ctrl-C; other signals are passed on. */
function endOf(child) {
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(error.message));
  return new Promise((resolve) => {
    // After what it said to us, which can come later than its exit.
    child.on('close', (code, signal) => {
      if (signal === 'SIGTERM' || signal === 'SIGHUP') process.exit(1);
      resolve(code ?? (signal === 'SIGINT' ? 130 : 1));
    });
  });
}

/** Runs the command as a child and exits as it does. */
async function handOver(command, parameters) {
  process.exit(await endOf(spawn(command, parameters, { cwd: root, stdio: 'inherit' })));
}

/**
 * Runs the tests and waits for the checks that run beside them. What either found is shown before
 * the last line; the status is 1 when one of them failed.
 */
async function testBeside(checks, parameters) {
  let counts = null;
  const tests = spawn(process.execPath, [vitest, ...parameters], {
    cwd: root,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  tests.on('message', (message) => (counts = message));
  const code = await endOf(tests);
  const ended = await checks;
  for (const line of endOfRun(ended, counts)) process.stdout.write(`${line}\n`);
  const isRight = code === 0 && counts !== null && ended.every(({ findings }) => findings === null);
  process.exit(isRight ? 0 : code || 1);
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
async function prepare(verb, parameters, { onRoutes, onTypeErrors }) {
  const step = createSteps(process.stderr);
  try {
    await install(step);
    await build(step, { isHurried: !CHECKED.has(verb), onRoutes, onTypeErrors });
    // Tests that read the site build it themselves, beside the others.
    if (verb === 'build') await buildPages(step);
    if (verb === 'start') buildPagesBeside();
    if (mayUseKafka(verb, parameters)) await buildKafkaClient(step);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    process.exit(error.exitCode);
  }
}

/** Finds all that is wrong at once: no failure keeps the others from being found. */
async function checkAndTest(verb) {
  let checks = Promise.resolve([]);
  const types = { name: 'types', findings: null };
  await prepare(verb, [], {
    // The checks need the generated files but not what the compiler writes.
    onRoutes: () => (checks = runChecks(say)),
    onTypeErrors: (said) => (types.findings = said),
  });
  say(`check: types ${types.findings === null ? 'passed' : 'FAILED'}`);
  const all = checks.then((others) => [types, ...others]);
  return testBeside(all, [...RUN_TESTS, ...(verb === 'check' ? ['--project', 'fast'] : [])]);
}

async function main() {
  const [verb = 'start', ...parameters] = process.argv.slice(2);
  requireNode();
  if (verb === 'check' || (verb === 'test' && parameters.length === 0)) return checkAndTest(verb);
  await prepare(verb, parameters, {});
  if (verb === 'build') return;
  if (verb === 'test') return handOver(process.execPath, [vitest, ...RUN_TESTS, ...parameters]);
  if (verb === 'examples') {
    // The test that compares the examples with what the product answers writes them instead.
    process.env.RECORD_EXAMPLES = '1';
    const recorder = 'billing-api/edge/openapi-examples.http.test.ts';
    return handOver(process.execPath, [vitest, ...RUN_TESTS, recorder]);
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
