import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

function findProjectRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'package.json'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error('package.json not found above the running code');
    directory = parent;
  }
  return directory;
}

/**
 * The folder with package.json. SQL files are read from it, whether the code runs from dist or from
 * source.
 */
export const projectRoot: string = findProjectRoot();

const packageFile = z.object({ version: z.string() });
let version: string | null = null;

/** The version of the release to which the code belongs. */
export function releaseVersion(): string {
  version ??= packageFile.parse(
    JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')),
  ).version;
  return version;
}

/**
 * The built JavaScript file of one of our modules (`clickhouse/embedded-server`), to be started as
 * a process.
 * @param root of another built checkout than this one.
 */
export function builtModule(name: string, root: string = projectRoot): string {
  return join(root, 'dist', `${name}.js`);
}
