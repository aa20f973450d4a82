import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { drawFreePort } from '../../runtime/port.js';
import { createApiKey } from '../../sql/api-key.js';
import { programOf, waitUntilReady, type StartedProgram } from '../harness/start-program.js';
import type { Target } from './load/drive.js';

/** A running product with everything of its own. */
export type Product = StartedProgram & { readonly target: Target; readonly readyMs: number };

/** Starts the product that was built in a folder, as `npm start` does, on a free port. */
export async function startProduct(folder: string, directory: string): Promise<Product> {
  const port = await drawFreePort();
  const apiKey = createApiKey('private_key');
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(folder, 'dist/cli/minutebook.js'), 'start'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      MINUTEBOOK_PORT: String(port),
      MINUTEBOOK_DATA_DIR: directory,
      MINUTEBOOK_BOOTSTRAP_API_KEY: apiKey,
      MINUTEBOOK_DEFAULT_RATE: '100000',
      MINUTEBOOK_HEAVY_RATE: '100000',
    },
  });
  const program = programOf(child, `http://127.0.0.1:${port}`);
  await waitUntilReady(program.url);
  const readyMs = performance.now() - startedAt;
  return { ...program, readyMs, target: { port, host: '127.0.0.1', apiKey } };
}
