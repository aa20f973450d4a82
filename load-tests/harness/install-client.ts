import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../runtime/project.js';

const run = promisify(execFile);
const TSC = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/** Everything that a careful program asks of its types, those of the package included. */
const SETTINGS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  module: 'NodeNext',
  moduleResolution: 'NodeNext',
  target: 'ES2022',
  types: ['node'],
};

/** A folder in which the packed client is installed, as whoever uses it has it. */
export type ClientProject = {
  /** The file that a compiled program is in. */
  readonly program: string;
  /** Compiles a program strictly. @throws with what the compiler says. */
  readonly compile: (source: string) => Promise<void>;
};

/** Builds, packs and installs the client into an empty folder, from nothing but the package. */
export async function installClient(folder: string): Promise<ClientProject> {
  const packed = join(folder, 'package');
  await run('node', [join(projectRoot, 'client/build-package.mjs'), packed]);
  const { stdout } = await run('npm', ['pack', packed, '--json'], { cwd: folder });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(folder, filename)];
  await run('npm', install, { cwd: folder });
  // The types of Node are those of whoever uses it.
  const types = join(projectRoot, 'node_modules');
  await symlink(join(types, '@types'), join(folder, 'node_modules/@types'));
  await symlink(join(types, 'undici-types'), join(folder, 'node_modules/undici-types'));
  const settings = { compilerOptions: SETTINGS, include: ['program.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const program = join(folder, 'program.js');
  return {
    program,
    compile: async (source) => {
      await writeFile(join(folder, 'program.ts'), source);
      const done = await run('node', [TSC, '-p', folder]).catch((error: unknown) => {
        throw new Error(String((error as { stdout?: string }).stdout ?? error));
      });
      if (done.stdout !== '') throw new Error(done.stdout);
    },
  };
}
