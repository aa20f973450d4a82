import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, type Stack } from '../../../../cli/stack.js';
import { readStackConfig } from '../../../../cli/stack-config.js';

/** A running product as its callers see it. */
export type Product = {
  /** The parsed answer. @throws Error with status and text for every status of 400 and above. */
  readonly post: <Answer>(path: string, bodyText: string) => Promise<Answer>;
  readonly get: <Answer>(path: string) => Promise<Answer>;
  readonly close: () => Promise<void>;
};

async function start(): Promise<Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-oracle-'));
  const config = readStackConfig({
    MINUTEBOOK_PORT: '0',
    MINUTEBOOK_LOG_LEVEL: 'fatal',
    MINUTEBOOK_DATA_DIR: directory,
    MINUTEBOOK_INGEST_RATE: '100000',
    MINUTEBOOK_HEAVY_RATE: '100000',
    MINUTEBOOK_DEFAULT_RATE: '100000',
  });
  return startStack(config, () => rm(directory, { recursive: true, force: true }));
}

/** Starts a whole product in a temporary directory. */
export async function startProduct(): Promise<Product> {
  const { url, apiKey, lifecycle } = await start();
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const call = async <Answer>(path: string, request: RequestInit): Promise<Answer> => {
    const response = await fetch(`${url}/v1${path}`, { ...request, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as Answer;
  };
  return {
    // Bodies are texts, since a number must reach the product in the digits that were written.
    post: (path, body) => call(path, { method: 'POST', body }),
    get: (path) => call(path, {}),
    close: () => lifecycle.close(),
  };
}
