import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../../runtime/project.js';
import type { World } from '../world/world.js';

/** Writes what the programs said to a file that survives the run; returns its path. */
export async function keepEvidence(world: World, name: string): Promise<string> {
  const directory = join(projectRoot, 'load-tests', 'results', 'faults');
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${name.replaceAll(/[^\w-]+/g, '-')}.log`);
  await writeFile(file, world.evidence);
  return file;
}
