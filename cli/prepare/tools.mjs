import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const binaries = join(root, 'node_modules', '.bin');
/**
 * The native compiler. `node_modules/.bin/tsc` may be the older one, which tsoa and the linter need.
 */
export const compiler = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
/** Files that say for which sources something was done. They go away with node_modules. */
export const stamps = join(root, 'node_modules', '.cache', 'minutebook');

export function isStamped(name, value) {
  const file = join(stamps, name);
  return existsSync(file) && readFileSync(file, 'utf8') === value;
}

export function stamp(name, value) {
  mkdirSync(stamps, { recursive: true });
  writeFileSync(join(stamps, name), value);
}

/** Runs a tool in the project to its end. Resolves to its exit code and all that it wrote. */
export function runTool(command, parameters, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, parameters, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
    });
    const stop = () => child.kill();
    process.once('exit', stop);
    let said = '';
    for (const output of [child.stdout, child.stderr]) {
      output.on('data', (part) => (said += part));
    }
    child.once('error', (error) => resolve({ code: 1, said: `${command}: ${error.message}` }));
    child.once('close', (code) => {
      process.removeListener('exit', stop);
      resolve({ code: code ?? 1, said });
    });
  });
}
