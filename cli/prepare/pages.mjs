import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { root, runTool } from './tools.mjs';

const SCRIPT = join(root, 'cli', 'site', 'build.mjs');
/** Whatever else runs comes first. */
const LOW_PRIORITY = 15;

/** Builds the site of the pages where one of them, or the reference, has changed. */
export async function buildPages(step) {
  await step('Building the pages', () => runTool(process.execPath, [SCRIPT]));
}

/** The same beside a product that starts meanwhile: its pages are there some seconds later. */
export function buildPagesBeside() {
  const child = spawn(process.execPath, [SCRIPT], { cwd: root, stdio: 'ignore' });
  process.once('exit', () => child.kill());
  child.once('error', () => undefined);
  if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
}
