import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../contract/instant.js';
import type { Batch } from '../protocol/state.js';
import { divideBatches } from './insert-batches.js';

const NOTHING = { rows: 0, bytes: Buffer.alloc(0) };

/** A batch with so many rows of events, each two bytes long. */
function batchOf(partition: number, rows: number, appendDay = 1) {
  const encoded = {
    events: { rows, bytes: Buffer.from('1\n'.repeat(rows)) },
    ids: NOTHING,
    usage: NOTHING,
    duplicates: NOTHING,
    deadLetters: NOTHING,
  };
  const batch: Batch = {
    range: { logId: 'log', partition, start: 0, end: rows },
    catalogVersion: 1,
    summary: {
      idHashes: [],
      duplicates: 0,
      conflicts: 0,
      deadLetters: [],
      countedEvents: 0,
      unreadable: new Map(),
    },
    encoded,
    digest: '',
    appendedAtMs: appendDay * DAY_MS + 5,
  };
  return { epoch: 1, batch };
}

const partitionsOf = (inserts: ReturnType<typeof divideBatches>) =>
  inserts.map((insert) => insert.map(({ batch }) => batch.range.partition));

describe('the batches of a flush', () => {
  it('fit into one insert up to the rows of one block, and not with one row more', () => {
    const batches = [batchOf(0, 4), batchOf(1, 6)];
    expect(partitionsOf(divideBatches(batches, 'events', { rowsMax: 10 }))).toEqual([[0, 1]]);
    expect(partitionsOf(divideBatches(batches, 'events', { rowsMax: 9 }))).toEqual([[0], [1]]);
  });

  it('fit up to a number of bytes, where a single batch may have more', () => {
    const batches = [batchOf(0, 2), batchOf(1, 2), batchOf(2, 8), batchOf(3, 1)];
    const bounds = { rowsMax: 100, bytesMax: 8 };
    expect(partitionsOf(divideBatches(batches, 'events', bounds))).toEqual([[0, 1], [2], [3]]);
    const small = [batchOf(0, 3), batchOf(1, 2), batchOf(2, 1)];
    expect(partitionsOf(divideBatches(small, 'events', bounds))).toEqual([[0, 2], [1]]);
  });

  it('are inserted apart when the log appended them on different days', () => {
    const batches = [batchOf(0, 1, 2), batchOf(1, 1, 1), batchOf(2, 1, 2)];
    const inserts = divideBatches(batches, 'events', { rowsMax: 100 });
    expect(partitionsOf(inserts)).toEqual([[0, 2], [1]]);
  });

  it('are no insert when there are none', () => {
    expect(divideBatches([], 'events', { rowsMax: 1 })).toEqual([]);
  });
});
