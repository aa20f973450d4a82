import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileProblemOf, makeDataDirectory } from './data-directory.js';

const CHOOSE = 'choose a directory that this user may write to';

describe('the data directory', () => {
  test('is made with those above it, or refused in one sentence, at once also below /proc', async () => {
    const root = await mkdtemp(join(tmpdir(), 'data-directory-'));
    try {
      const path = join(root, 'a', 'b');
      await makeDataDirectory(path);
      await makeDataDirectory(path);
      expect((await stat(path)).isDirectory()).toBe(true);
      const file = join(root, 'file');
      await writeFile(file, '');
      for (const [refused, code] of [
        [file, 'ENOTDIR'],
        [join(file, 'below'), 'ENOTDIR'],
        ['/proc/nope', 'ENOENT'],
      ] as const) {
        await expect(makeDataDirectory(refused)).rejects.toThrow(
          `MINUTEBOOK_DATA_DIR: ${refused} cannot be used (${code}): ${CHOOSE}`,
        );
      }
    } finally {
      await rm(root, { recursive: true });
    }
  });
});

describe('a failure of the file system at a start', () => {
  test('is told in words when it is of the directory, or of a full disk', async () => {
    const error: unknown = await readFile('/data/kept/secret').catch((cause: unknown) => cause);
    expect(fileProblemOf(error, '/data/kept')?.message).toContain(
      'MINUTEBOOK_DATA_DIR: /data/kept/secret cannot be used (ENOENT): give this user the right',
    );
    expect(fileProblemOf(error, '/data/other')).toBeNull();
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    expect(fileProblemOf(full, '/data')?.message).toContain('the disk is full: make room');
    expect(fileProblemOf(new Error('a bug'), '/data')).toBeNull();
  });
});
