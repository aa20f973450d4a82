import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../runtime/failure.js';
import { projectRoot } from '../../runtime/project.js';

/** Must equal the version in pom.xml beside this file. */
const KAFKA_VERSION = '4.1.1';
const JAVA_MIN = 17;
/** Long enough for a slow mirror and an empty Maven cache; usually it takes 7 s. */
const DOWNLOAD_TIMEOUT_MS = 300_000;
const OUTPUT_MAX = 4_000;

/** This machine cannot run a broker; the message says what is missing. */
export class KafkaUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'KafkaUnavailable';
  }
}

/** Runs a program and returns its output. @throws Error when it does not end with status 0. */
export async function runProgram(
  program: string,
  parameters: readonly string[],
  timeoutMs: number,
): Promise<string> {
  const child = spawn(program, parameters, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  });
  let output = '';
  const keep = (chunk: unknown): void => {
    output = (output + String(chunk)).slice(-OUTPUT_MAX);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const [code, signal] = await once(child, 'close');
  if (code === 0) return output;
  throw new Error(`${program} ended with ${String(code ?? signal)}: ${output.trim()}`);
}

async function checkJava(): Promise<void> {
  let output: string;
  try {
    output = await runProgram('java', ['-version'], 30_000);
  } catch (error) {
    throw new KafkaUnavailable(`Java ${JAVA_MIN} or later is not installed`, error);
  }
  const major = Number(/version "(\d+)/.exec(output)?.[1] ?? '0');
  if (major < JAVA_MIN) {
    throw new KafkaUnavailable(
      `Java ${major} is installed, but Kafka 4 needs Java ${JAVA_MIN} or later`,
    );
  }
}

/**
 * The directory with the jars of Apache Kafka. The first call fetches them with Maven (43 MB) and
 * keeps them in `.cache`. They are fetched into another folder, which is then renamed, so that an
 * incomplete download is never used.
 * @throws KafkaUnavailable when Java or Maven is missing, or Maven cannot fetch the jars.
 */
export async function findKafkaJars(onProgress: (text: string) => void): Promise<string> {
  await checkJava();
  const cache = join(projectRoot, '.cache');
  const directory = join(cache, `kafka-${KAFKA_VERSION}`);
  if (existsSync(directory)) return directory;
  onProgress(`fetching Apache Kafka ${KAFKA_VERSION} with Maven (43 MB, once)`);
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'kafka-fetch-'));
  try {
    const pom = join(projectRoot, 'cli', 'kafka', 'pom.xml');
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime'];
    await runProgram(
      'mvn',
      ['-q', '-B', '-f', pom, ...goal, `-DoutputDirectory=${draft}`],
      DOWNLOAD_TIMEOUT_MS,
    );
    if ((await readdir(draft)).length === 0) throw new Error('Maven copied nothing');
    // Another process may have been faster; its copy is the same.
    if (!existsSync(directory)) await rename(draft, directory);
  } catch (error) {
    throw new KafkaUnavailable(`Maven could not fetch Kafka: ${messageOf(error)}`, error);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return directory;
}
