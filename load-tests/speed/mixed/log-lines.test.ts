import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LogLines } from './log-lines.js';

it('keeps every line, and counts those at warn and above and those that are no log lines', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-log-'));
  const lines = new LogLines(join(directory, 'product.log'));
  const line = (level: number, msg: string): string =>
    JSON.stringify({ level, program: 'aggregator', msg });
  for (const text of [line(30, 'started'), line(40, 'slow'), line(50, 'slow'), 'Error: oops', '']) {
    lines.add(text);
  }
  expect([...lines.unexpected]).toEqual([
    ['aggregator: slow', 2],
    ['Error: oops', 1],
  ]);
  const kept = await readFile(join(directory, 'product.log'), 'utf8');
  expect(kept.split('\n')).toHaveLength(6);
  await rm(directory, { recursive: true });
});
