import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../runtime/project.js';

/** A file of the project that is written anew for each build: its time says when that one began. */
export const BUILD_STAMP = join('dist', '.built-for-tests');
const STAMP = join(projectRoot, BUILD_STAMP);

const ENGINE_FOLDERS = ['contract', 'runtime', 'sql', 'clickhouse'] as const;
const PROGRAM_FOLDERS = [
  'event-log',
  'ingest',
  'aggregator',
  'billing-api',
  'cli',
  // Programs of the fault suite.
  'load-tests',
  'client',
  'web',
];

/** Which processes the tests start: those that host engines, or the whole product. */
export type BuildScope = 'engines' | 'product';

function newestSource(folder: string): number {
  const path = join(projectRoot, folder);
  if (!existsSync(path)) return 0;
  const sources = readdirSync(path, { recursive: true, withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() && /\.(tsx?|css)$/.test(entry.name) && !entry.name.endsWith('.test.ts'),
  );
  return Math.max(0, ...sources.map((entry) => statSync(join(entry.path, entry.name)).mtimeMs));
}

function isStale(scope: BuildScope): boolean {
  if (!existsSync(STAMP)) return true;
  const folders = scope === 'engines' ? ENGINE_FOLDERS : [...ENGINE_FOLDERS, ...PROGRAM_FOLDERS];
  return Math.max(...folders.map(newestSource)) > statSync(STAMP).mtimeMs;
}

async function runNode(parameters: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, parameters, {
    cwd: projectRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${parameters.join(' ')} ended with ${String(code)}`);
}

/**
 * Compiles the sources into dist when those that matter are newer, since processes run from there.
 * Types are not checked: that is a step of its own, which finds the errors that are left out here.
 * @throws Error when the compiler cannot run, or a source has a syntax error.
 */
export async function buildWhenStale(scope: BuildScope): Promise<void> {
  if (!isStale(scope)) return;
  const startedAt = new Date();
  await runNode([join('node_modules', 'typescript-native', 'bin', 'tsc'), '--noCheck']);
  await runNode([join('web', 'build.mjs')]);
  writeFileSync(STAMP, '');
  utimesSync(STAMP, startedAt, startedAt);
}
