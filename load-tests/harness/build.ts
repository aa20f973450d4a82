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
];

/** Which processes the tests start: those that host engines, or the whole product. */
export type BuildScope = 'engines' | 'product';

function newestSource(folder: string): number {
  const path = join(projectRoot, folder);
  if (!existsSync(path)) return 0;
  const sources = readdirSync(path, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'),
  );
  return Math.max(0, ...sources.map((entry) => statSync(join(entry.path, entry.name)).mtimeMs));
}

function isStale(scope: BuildScope): boolean {
  if (!existsSync(STAMP)) return true;
  const folders = scope === 'engines' ? ENGINE_FOLDERS : [...ENGINE_FOLDERS, ...PROGRAM_FOLDERS];
  return Math.max(...folders.map(newestSource)) > statSync(STAMP).mtimeMs;
}

/**
 * Compiles the sources into dist when those that matter are newer, since processes run from there.
 * Types are not checked: that is a step of its own, which finds the errors that are left out here.
 * @throws Error when the compiler cannot run, or a source has a syntax error.
 */
export async function buildWhenStale(scope: BuildScope): Promise<void> {
  if (!isStale(scope)) return;
  const startedAt = new Date();
  const compiler = join(projectRoot, 'node_modules', 'typescript-native', 'bin', 'tsc');
  const child = spawn(process.execPath, [compiler, '--noCheck'], {
    cwd: projectRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`tsc ended with ${String(code)}`);
  writeFileSync(STAMP, '');
  utimesSync(STAMP, startedAt, startedAt);
}
