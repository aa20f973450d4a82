import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { createPapers } from './papers.js';
import type { PrintedPage } from './printed-invoice.js';

const NEVER = new AbortController().signal;
const LIMITS = { msMax: 600_000, heapMbMax: 256, keptBytesMax: 1_000_000 };

const pageOf = (title: string): PrintedPage => ({
  title,
  name: '',
  notice: null,
  seller: [],
  customer: [],
  facts: [],
  amountTitle: '',
  rows: [],
  notes: [],
  madeAt: 0,
});

const folder = await mkdtemp(join(tmpdir(), 'papers-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * A thread that answers a page with its title and how many it has made, never answers one of the
 * title `endless`, and fills its memory for `filling`.
 */
const FILE = pathToFileURL(join(folder, 'thread.mjs'));
await writeFile(
  FILE,
  `let made = 0;
  export const makePaper = (bytes) => {
    const { title } = JSON.parse(Buffer.from(bytes).toString());
    if (title === 'broken') throw new Error('broken');
    if (title === 'endless') for (;;);
    if (title === 'filling') { const all = []; for (;;) all.push({ at: [all.length] }); }
    made += 1;
    return Buffer.from(title + ' ' + made);
  };`,
);

const textOf = async (paper: ReturnType<ReturnType<typeof createPapers>>): Promise<string> =>
  String(await paper);

describe('papers', () => {
  it('are kept by what is printed on them, and made again when that changes', async () => {
    const print = createPapers(FILE, LIMITS);
    expect(await textOf(print('a', pageOf('x'), NEVER))).toBe('x 1');
    expect(await textOf(print('a', pageOf('y'), NEVER))).toBe('y 2');
    expect(await textOf(print('a', pageOf('x'), NEVER))).toBe('x 1');
    const together = await Promise.all([1, 2].map(() => textOf(print('a', pageOf('z'), NEVER))));
    expect(together).toEqual(['z 3', 'z 3']);
  });

  it('are kept in bounds: the one that was asked for last stays', async () => {
    const print = createPapers(FILE, { ...LIMITS, keptBytesMax: 4 });
    for (const text of ['x 1', 'y 2', 'x 3', 'x 3']) {
      expect(await textOf(print('a', pageOf(text.charAt(0)), NEVER))).toBe(text);
    }
  });

  it('end when the client leaves, and the next one of the tenant begins', async () => {
    const print = createPapers(FILE, LIMITS);
    const leaving = new AbortController();
    const left = print('a', pageOf('endless'), leaving.signal);
    const next = textOf(print('a', pageOf('x'), NEVER));
    // Another tenant has its paper while the first one goes on and the second waits.
    expect(await textOf(print('b', pageOf('x'), NEVER))).toBe('x 1');
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(await next).toMatch(/^x /);
  });

  it.each(['endless', 'filling'])('are refused when they cost too much (%s)', async (title) => {
    const msMax = title === 'endless' ? 1 : LIMITS.msMax;
    const print = createPapers(FILE, { ...LIMITS, msMax, heapMbMax: 32 });
    expect(await print('a', pageOf(title), NEVER)).toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('/v1/invoices/{id}/lines.csv'),
    });
  });

  it('fail when their thread fails, and are not kept', async () => {
    const print = createPapers(FILE, LIMITS);
    await expect(print('a', pageOf('broken'), NEVER)).rejects.toThrow('broken');
    expect(await textOf(print('a', pageOf('x'), NEVER))).toMatch(/^x /);
  });
});
