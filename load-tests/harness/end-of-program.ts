import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { builtModule } from '../../runtime/project.js';

/** How a program ended that cannot run. */
export type ProgramEnd = {
  readonly status: number | null;
  /** What it wrote to standard error. */
  readonly lines: readonly string[];
};

/** Runs a built program that cannot run with these settings, until its end. */
export async function endOfProgram(
  name: 'ingest' | 'aggregator' | 'billing-api',
  settings: Readonly<Record<string, string>>,
): Promise<ProgramEnd> {
  const child = spawn(process.execPath, [builtModule(`${name}/main`)], {
    env: {
      PATH: process.env['PATH'],
      MINUTEBOOK_PORT: '0',
      MINUTEBOOK_METRICS_PORT: '0',
      CLICKHOUSE_URL: 'http://127.0.0.1:1',
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, lines: said.trim().split('\n') };
}
