import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { assertSameContents, assertSameMigrations, readManifest } from './manifest.js';
import { readTableFile, writeTableFile } from './table-file.js';

const EVENTS = { table: 'events_v1', rows: '2', digest: '17' };

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minutebook-backup-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('a backup', () => {
  test('is refused without its manifest, which is written last', async () => {
    await expect(readManifest(directory)).rejects.toThrow(
      `${directory} holds no whole backup: it has no manifest.json`,
    );
  });

  test.each(['{"format":2}', '{"format":1,"madeAt"'])(
    'is refused with the manifest %s',
    async (text) => {
      await writeFile(join(directory, 'manifest.json'), text);
      await expect(readManifest(directory)).rejects.toThrow('is not of a backup of this release');
    },
  );

  test('is refused when the server ended the rows of a table early', async () => {
    const path = join(directory, 'events_v1.tsv.gz');
    await expect(writeTableFile(path, Readable.from([Buffer.from('1\n')]), EVENTS)).rejects.toThrow(
      '1 rows of events_v1 came instead of 2: try again',
    );
  });

  test('gives back the bytes of a table, in chunks cut anywhere', async () => {
    const path = join(directory, 'events_v1.tsv.gz');
    const chunks = ['a\\n', 'b\nc', '\n'].map((chunk) => Buffer.from(chunk));
    await writeTableFile(path, Readable.from(chunks), EVENTS);
    expect(await text(readTableFile(path))).toBe('a\\nb\nc\n');
  });

  test('fails when a file of it was cut', async () => {
    const path = join(directory, 'events_v1.tsv.gz');
    await writeTableFile(path, Readable.from([Buffer.from('1\n2\n')]), EVENTS);
    await truncate(path, 12);
    await expect(text(readTableFile(path))).rejects.toThrow('unexpected end of file');
  });

  test.each([
    ['fewer rows', { ...EVENTS, rows: '1' }],
    ['other rows', { ...EVENTS, digest: '18' }],
  ])('is not restored when a table has %s', (_, found) => {
    const compare = () => assertSameContents('ClickHouse', [EVENTS], [found]);
    expect(compare).toThrow(
      `the rows of ClickHouse table events_v1 (${found.rows}) are not those of the backup (2): make ` +
        'both databases anew and restore again; the backup is unchanged',
    );
    assertSameContents('ClickHouse', [EVENTS], [EVENTS]);
  });

  test.each([
    [['0001_a.sql'], ['0001_a.sql', '0002_b.sql']],
    [['0001_a.sql', '0002_b.sql'], ['0001_a.sql']],
  ])('is refused by tables of another release: %s and %s', (backup, applied) => {
    expect(() => assertSameMigrations('PostgreSQL', backup, applied)).toThrow(
      'the backup is of another release (PostgreSQL migrations 0002_b.sql): restore it with that ' +
        'release, then upgrade',
    );
  });
});
