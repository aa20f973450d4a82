import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { projectRoot } from '../runtime/project.js';

/** Bytes of a file as it is sent: compressed. */
const sizeOf = (path: string): number => gzipSync(readFileSync(path), { level: 9 }).length;

test('the console is at most 60 kB in all', () => {
  const folder = mkdtempSync(join(tmpdir(), 'minutebook-console-'));
  try {
    execFileSync(process.execPath, [join(projectRoot, 'web', 'build.mjs'), folder]);
    const sizes = readdirSync(folder).map((name) => [name, sizeOf(join(folder, name))] as const);
    expect(sizes.map(([name]) => name)).toContain('console.js');
    // All of it is the first page: 60 of the 150 kB that it may have with later screens.
    expect(sizes.reduce((sum, [, size]) => sum + size, 0)).toBeLessThanOrEqual(60_000);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
