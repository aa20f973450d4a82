import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { builtModule } from '../../runtime/project.js';

/** Runs `minutebook <words>` with no other settings than these: its status, and what it wrote. */
export async function runVerb(
  settings: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<{ readonly status: number | null; readonly said: string }> {
  const child = spawn(process.execPath, [builtModule('cli/minutebook'), ...words], {
    env: { PATH: process.env['PATH'], ...settings },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, said };
}
