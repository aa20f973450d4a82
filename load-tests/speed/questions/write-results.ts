import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../runtime/project.js';
import { machineFacts } from '../../harness/machine-facts.js';

/** Writes the results and the machine's facts to `load-tests/results/<name>.json`. */
export async function writeResults(name: string, results: object): Promise<void> {
  const folder = join(projectRoot, 'load-tests', 'results');
  await mkdir(folder, { recursive: true });
  const measuredAt = new Date().toISOString();
  const report = { measuredAt, machine: Object.fromEntries(machineFacts()), ...results };
  await writeFile(join(folder, `${name}.json`), `${JSON.stringify(report, null, 2)}\n`);
}
