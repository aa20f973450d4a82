import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { builtModule, projectRoot } from '../../runtime/project.js';

type VerbEnd = { readonly status: number | null; readonly said: string };

/** Runs `minutebook <words>` with no other settings than these: its status, and what it wrote. */
export function runVerb(
  settings: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<VerbEnd> {
  return runVerbOf(projectRoot, settings, ...words);
}

/** The same of another built release, by its root. */
export async function runVerbOf(
  root: string,
  settings: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<VerbEnd> {
  const child = spawn(process.execPath, [builtModule('cli/minutebook', root), ...words], {
    env: { PATH: process.env['PATH'], ...settings },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, said };
}
