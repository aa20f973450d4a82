import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../../cli/kafka/kafka-jars.js';
import { messageOf } from '../../../runtime/failure.js';
import { projectRoot } from '../../../runtime/project.js';

/** Must equal the version in requirements.txt beside this file. */
const MOTO_VERSION = '5.2.5';
/** Long enough for a slow mirror; usually it takes less than a minute. */
const DOWNLOAD_TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 60_000;
const OUTPUT_MAX = 4_000;

/** This machine cannot run the server; the message says what is missing. */
class S3Unavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'S3Unavailable';
  }
}

export type S3Server = { readonly url: string; readonly stop: () => Promise<void> };

/** A server for this test file, or why there is none. */
export type S3Offer =
  | { readonly server: S3Server; readonly skipReason: null }
  | { readonly server: null; readonly skipReason: string };

/**
 * The folder with moto, an S3-compatible server. The first call fetches it with pip (80 MB) and
 * keeps it in `.cache`. It is fetched into another folder, which is then renamed, so that an
 * incomplete download is never used.
 */
async function findMoto(): Promise<string> {
  const cache = join(projectRoot, '.cache');
  const directory = join(cache, `moto-${MOTO_VERSION}`);
  if (existsSync(directory)) return directory;
  process.stderr.write(`s3: fetching moto ${MOTO_VERSION} with pip (80 MB, once)\n`);
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'moto-fetch-'));
  const requirements = join(projectRoot, 'load-tests', 'harness', 's3', 'requirements.txt');
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check'];
  try {
    const parameters = [...pip, '--no-compile', '--target', draft, '-r', requirements];
    await runProgram('python3', parameters, DOWNLOAD_TIMEOUT_MS);
    // Another process may have been faster; its copy is the same.
    if (!existsSync(directory)) await rename(draft, directory);
  } catch (error) {
    throw new S3Unavailable(`pip could not fetch moto: ${messageOf(error)}`, error);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return directory;
}

async function start(): Promise<S3Server> {
  const directory = await findMoto();
  const child = spawn('python3', ['-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], {
    // Without bytecode of its own user's packages: only what was fetched.
    env: { ...process.env, PYTHONPATH: directory, PYTHONNOUSERSITE: '1', PYTHONUNBUFFERED: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new S3Unavailable(`moto is silent: ${said}`)),
      START_TIMEOUT_MS,
    );
    const read = (chunk: unknown): void => {
      said = (said + String(chunk)).slice(-OUTPUT_MAX);
      const found = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', (error) => reject(new S3Unavailable('Python 3 is not installed', error)));
    child.once('close', () => reject(new S3Unavailable(`moto ended: ${said.trim()}`)));
  });
  return {
    url,
    stop: async () => {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/**
 * Starts a real S3-compatible server, or says why this machine cannot, which skips the tests. With
 * `REQUIRE_S3=1` it is an error to have none.
 */
export async function obtainS3(): Promise<S3Offer> {
  try {
    return { server: await start(), skipReason: null };
  } catch (error) {
    if (!(error instanceof S3Unavailable) || process.env['REQUIRE_S3'] === '1') throw error;
    return { server: null, skipReason: error.message };
  }
}
