import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { builtModule, projectRoot } from '../../runtime/project.js';

const modifiedAt = (path: string): number => (existsSync(path) ? statSync(path).mtimeMs : 0);

/** Whether the built form of a module is missing or older than its source. */
export function isStale(module: string): boolean {
  return modifiedAt(builtModule(module)) <= modifiedAt(join(projectRoot, `${module}.ts`));
}

/** Compiles the sources into dist. Type errors do not keep the compiler from writing. */
export async function build(): Promise<void> {
  const compiler = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const child = spawn(process.execPath, [compiler, '-p', 'tsconfig.json'], {
    cwd: projectRoot,
    stdio: 'ignore',
  });
  await once(child, 'exit');
}
