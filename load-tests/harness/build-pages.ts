import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../runtime/project.js';

const run = promisify(execFile);

/**
 * Builds the site of the pages where it is out of date. It is no part of the build before all
 * tests: who needs it waits for it, and the other tests go on.
 * @throws Error when it cannot be built, such as for a link that leads nowhere.
 */
export async function buildPages(): Promise<void> {
  await run(process.execPath, [join(projectRoot, 'cli', 'site', 'build.mjs')]);
}
