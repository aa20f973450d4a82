import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IdList, KnownIds } from './known-ids.js';
import { SMALL_FILTER_IDS } from './bloom-filter.js';
import { IdFilter } from './id-filter.js';
import { PreviousLogIds, type LimitReads } from './previous-log-ids.js';

type Row = { readonly offset: number; readonly idHash: string };

/** Distinct ids, numbered in the order in which they are made. */
function hashOf(index: number): string {
  return createHash('sha256').update(`id-${index}`).digest('hex').slice(0, 32);
}

/** The table of ids, and what was read of it. Chunks end inside an id, as those of a socket do. */
class Table {
  readonly rows: Row[] = [];
  readonly otherLogs: string[] = [];
  readonly readings: { from: number; below: number }[] = [];
  /** The server fails on the way: so many ids are missing at the end, without an error. */
  missingAtEnd = 0;
  /** Runs while a list is being read. */
  meanwhile: () => void = () => undefined;

  readonly ids: KnownIds = {
    ofPartition: (_partition, { from, below }) => {
      const inRange = this.rows.filter(({ offset }) => offset >= from && offset < below);
      const hashes = inRange.map(({ idHash }) => idHash);
      return this.#listOf(hashes, () => this.readings.push({ from, below }));
    },
    ofPreviousLog: () => ({
      count: () => Promise.resolve(this.otherLogs.length),
      stream: () => this.#listOf([...this.otherLogs], () => undefined).stream(),
    }),
  };

  #listOf(hashes: readonly string[], onRead: () => void): IdList {
    const table = this;
    return {
      count: () => Promise.resolve(hashes.length),
      stream: async function* () {
        onRead();
        const given = hashes.slice(0, hashes.length - table.missingAtEnd);
        const bytes = Buffer.from(given.join(''), 'hex');
        for (let at = 0; at < bytes.length; at += 1_000_003) {
          yield bytes.subarray(at, at + 1_000_003);
          await Promise.resolve();
          table.meanwhile();
        }
      },
    };
  }
}

const EVENTS = ['we', 'another, or we and the reply is lost', 'retake', 'other log'] as const;
const LIVING = new AbortController().signal;

const limit: LimitReads = (work) => work();

/** Of logs of which nothing is known but their ids. */
function previousOf(ids: KnownIds): PreviousLogIds {
  return new PreviousLogIds({
    falsePositiveRate: 0.01,
    ids,
    limit,
    keptBytesMax: 1_000_000,
    present: { log: 'now', partitionCount: 1 },
    previousLogs: () => Promise.resolve([]),
  });
}

function filterOf(table: Table): IdFilter {
  return new IdFilter(0, {
    falsePositiveRate: 0.01,
    ids: table.ids,
    previousLogIds: previousOf(table.ids),
    limit,
  });
}

/** Stores a batch that begins at the offset, as any owner would, and returns its ids. */
function store(table: Table, start: number, size: number): readonly string[] {
  const ids = Array.from({ length: size }, (_, index) => hashOf(table.rows.length + index));
  ids.forEach((idHash, index) => table.rows.push({ offset: start + index, idHash }));
  return ids;
}

function forgotten(filter: IdFilter, table: Table, below: number): readonly Row[] {
  const stored = table.rows.filter(({ offset }) => offset < below);
  const known = new Set(filter.perhapsKnown(stored.map(({ idHash }) => idHash)));
  return stored.filter(({ idHash }) => !known.has(idHash));
}

describe('IdFilter', () => {
  it('holds what was stored before it was warmed, and what it was told to remember', async () => {
    const table = new Table();
    const before = store(table, 0, 100);
    const filter = filterOf(table);
    expect(await filter.warm(100, LIVING)).toBe('rebuilt');
    filter.remember(store(table, 100, 10), 110, LIVING);
    expect(filter.perhapsKnown(before)).toEqual(before);
    expect(forgotten(filter, table, 110)).toEqual([]);
    expect(filter.size).toBe(110);
  });

  it('reads only what others stored meanwhile when its partition comes back', async () => {
    const table = new Table();
    const filter = filterOf(table);
    store(table, 0, 100);
    await filter.warm(100, LIVING);
    filter.remember(store(table, 100, 10), 110, LIVING);
    store(table, 110, 40);
    expect(await filter.warm(150, LIVING)).toBe('caught_up');
    expect(table.readings).toEqual([
      { from: 0, below: 100 },
      { from: 110, below: 150 },
    ]);
    expect(forgotten(filter, table, 150)).toEqual([]);
    expect(await filter.warm(150, LIVING)).toBe('kept');
  });

  it('holds the ids of earlier logs, also those added while it was kept', async () => {
    const table = new Table();
    const filter = filterOf(table);
    table.otherLogs.push(hashOf(1_000));
    await filter.warm(0, LIVING);
    expect(filter.perhapsKnown([hashOf(1_000)])).toEqual([hashOf(1_000)]);
    table.otherLogs.push(hashOf(1_001));
    await filter.warm(0, LIVING);
    expect(filter.perhapsKnown([hashOf(1_001)])).toEqual([hashOf(1_001)]);
  });

  it('is not warm when ClickHouse returns fewer ids than it counted', async () => {
    const table = new Table();
    store(table, 0, 100);
    table.missingAtEnd = 1;
    const filter = filterOf(table);
    await expect(filter.warm(100, LIVING)).rejects.toThrow(
      'returned 99 ids and should have returned 100',
    );
    table.missingAtEnd = 0;
    await filter.warm(100, LIVING);
    expect(forgotten(filter, table, 100)).toEqual([]);
  });

  it('holds everything again after warming was aborted', async () => {
    const table = new Table();
    const filter = filterOf(table);
    store(table, 0, 10);
    await filter.warm(10, LIVING);
    store(table, 10, 200_000);
    const stop = new AbortController();
    table.meanwhile = () => {
      stop.abort();
    };
    expect(await filter.warm(200_010, stop.signal)).toBeNull();
    table.meanwhile = () => undefined;
    expect(await filter.warm(200_010, LIVING)).toBe('caught_up');
    expect(forgotten(filter, table, 200_010)).toEqual([]);
  });

  it('is enlarged when it has outgrown its rate, and misses nothing meanwhile', async () => {
    const table = new Table();
    const filter = filterOf(table);
    await filter.warm(0, LIVING);
    const many = SMALL_FILTER_IDS + 1_000;
    filter.remember(store(table, 0, many - 10), many - 10, LIVING);
    // Written and remembered while the larger filter is being read.
    let end = many - 10;
    table.meanwhile = () => {
      filter.remember(store(table, end, 5), end + 5, LIVING);
      end += 5;
    };
    filter.remember(store(table, end, 10), end + 10, LIVING);
    end += 10;
    await new Promise((resolve) => setTimeout(resolve, 100));
    table.meanwhile = () => undefined;
    expect(table.readings).toEqual([{ from: 0, below: many - 10 }]);
    expect(end).toBeGreaterThan(many);
    expect(forgotten(filter, table, end)).toEqual([]);
  });

  it('never forgets a stored id, whoever owns the partition in between', async () => {
    const step = fc.record({
      size: fc.integer({ min: 1, max: 40 }),
      what: fc.constantFrom(...EVENTS),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const table = new Table();
        const filter = filterOf(table);
        let next = 0;
        let isWarm = false;
        const write = (size: number): readonly string[] => {
          const ids = store(table, next, size);
          next += size;
          return ids;
        };
        const warm = async (): Promise<void> => {
          if (!isWarm) await filter.warm(next, LIVING);
          isWarm = true;
        };
        const events: Readonly<Record<(typeof EVENTS)[number], (size: number) => void>> = {
          we: (size) => {
            filter.remember(write(size), next, LIVING);
          },
          'another, or we and the reply is lost': (size) => {
            write(size);
            isWarm = false;
          },
          retake: () => {
            isWarm = false;
          },
          'other log': () => {
            table.otherLogs.push(hashOf(1e9 + table.otherLogs.length));
            isWarm = false;
          },
        };
        for (const { what, size } of steps) {
          if (what === 'we') await warm();
          events[what](size);
          if (isWarm) expect(forgotten(filter, table, next)).toEqual([]);
        }
        await filter.warm(next, LIVING);
        expect(forgotten(filter, table, next)).toEqual([]);
        expect(filter.perhapsKnown(table.otherLogs)).toEqual(table.otherLogs);
        // Each id once: remembered ids are not read again.
        expect(filter.size).toBe(table.rows.length);
      }),
    );
  });
});
