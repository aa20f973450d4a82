import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DecodedRecord } from '../fold/candidate.js';
import type { Catalog } from '../protocol/state.js';
import { Flusher, type NextBatch } from './flusher.js';

const CATALOG: Catalog = { version: 1, meters: new Map() };
const FETCH = { kind: 'fetch', from: 0, catalogVersionMin: 1 } as const;

const NEVER = new AbortController().signal;

const recordAt = (offset: number, events: number): DecodedRecord => ({
  offset,
  appendedAtMs: 0,
  // A flusher only counts the events and never reads one, so places without events will do.
  candidates: Array.from({ length: events }),
  deadLetter: null,
});

/** What a partition has read: set by the test. */
class Records {
  isReady = false;
  isFull = false;
  events = 1;
  failure: Error | null = null;
  seek = (): Promise<void> => Promise.resolve();
  refresh = (): Promise<void> => Promise.resolve();
  take = (): readonly DecodedRecord[] => {
    this.isReady = false;
    this.isFull = false;
    if (this.failure !== null) throw this.failure;
    return [recordAt(7, this.events)];
  };
}

/** A process with partitions whose records the test brings. */
function process(partitions: number) {
  const latest = vi.fn(() => Promise.resolve(CATALOG));
  const flusher = new Flusher({
    catalog: { latest },
    flushDelayMs: 200,
    writeTogether: () => Promise.resolve(new Map()),
  });
  const records = Array.from({ length: partitions }, () => new Records());
  const begun: number[][] = [];
  const flushes = new Map<NextBatch['flush'], number[]>();
  const wait = async (partition: number): Promise<void> => {
    const ahead = records[partition] ?? new Records();
    const next = await flusher.next({ partition, ahead }, FETCH, NEVER);
    if (next === null) return;
    const members = flushes.get(next.flush) ?? [];
    if (members.length === 0) begun.push(members);
    flushes.set(next.flush, members);
    members.push(partition);
  };
  const bring = (partition: number, changes: Partial<Records> = {}): void => {
    Object.assign(records[partition] ?? {}, { isReady: true, ...changes });
    flusher.reconsider();
  };
  /** Every partition of the last flush is finished. */
  const finish = (): void => {
    const [flush, members] = [...flushes].at(-1) ?? [];
    for (const partition of members ?? []) flush?.leave(partition);
  };
  return { flusher, latest, begun, wait, bring, finish };
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a process', () => {
  it('writes at once after a pause, and then all partitions together after the flush delay', async () => {
    const { wait, bring, begun, finish, latest } = process(3);
    const waits = [0, 1, 2].map(wait);
    await pass(0);
    bring(0);
    await pass(0);
    expect(begun).toEqual([[0]]);
    finish();
    bring(1);
    await pass(100);
    bring(2);
    await pass(99);
    expect(begun).toEqual([[0]]);
    await pass(1);
    expect(begun).toEqual([[0], [1, 2]]);
    expect(latest).toHaveBeenCalledTimes(2);
    await Promise.all(waits);
  });

  it('does not wait after a flush that took longer than four flush delays', async () => {
    const { wait, bring, begun, finish } = process(2);
    void wait(0);
    void wait(1);
    await pass(0);
    bring(0, { events: 1_000 });
    await pass(0);
    bring(1);
    await pass(900);
    expect(begun).toEqual([[0]]);
    finish();
    await pass(0);
    expect(begun).toEqual([[0], [1]]);
  });

  it.for([
    ['of few events: the delay', 999, 190, 200],
    ['that took half of the flush delay: the delay', 1_000, 100, 200],
    ['that took longer: three times what it took beyond a quarter of it', 1_000, 150, 300],
    ['that took very long: four flush delays', 1_000, 700, 800],
  ] as const)('waits after a flush %s', async ([, events, tookMs, pauseMs]) => {
    const { wait, bring, begun, finish } = process(2);
    void wait(0);
    void wait(1);
    await pass(0);
    bring(0, { events });
    await pass(0);
    bring(1);
    await pass(tookMs);
    finish();
    await pass(pauseMs - tookMs - 1);
    expect(begun).toEqual([[0]]);
    await pass(1);
    expect(begun).toEqual([[0], [1]]);
  });

  it('does not wait for the flush delay when a partition has no room for more', async () => {
    const { wait, bring, begun, finish } = process(2);
    void wait(0);
    void wait(1);
    await pass(0);
    bring(0);
    await pass(0);
    finish();
    bring(1);
    await pass(50);
    expect(begun).toEqual([[0]]);
    bring(1, { isFull: true });
    await pass(0);
    expect(begun).toEqual([[0], [1]]);
  });

  it('tells a partition whose records cannot be read, and goes on with the others', async () => {
    const { flusher, wait, bring, begun } = process(1);
    const broken = new Records();
    broken.failure = new Error('not there');
    const failing = flusher.next({ partition: 9, ahead: broken }, FETCH, NEVER);
    const failed = expect(failing).rejects.toBe(broken.failure);
    void wait(0);
    await pass(0);
    broken.isReady = true;
    bring(0);
    await pass(0);
    await failed;
    expect(begun).toEqual([[0]]);
  });

  it('tells all partitions of a flush when the catalog cannot be read, and begins another', async () => {
    const { flusher, latest, wait, bring, begun } = process(1);
    const outage = new Error('no PostgreSQL');
    latest.mockRejectedValueOnce(outage);
    const records = new Records();
    const failed = expect(
      flusher.next({ partition: 9, ahead: records }, FETCH, NEVER),
    ).rejects.toBe(outage);
    await pass(0);
    records.isReady = true;
    flusher.reconsider();
    await pass(0);
    await failed;
    void wait(0);
    await pass(0);
    bring(0);
    await pass(200);
    expect(begun).toEqual([[0]]);
  });

  it('does not wait for a partition that was given up while its records were sought', async () => {
    const { flusher } = process(0);
    const giveUp = new AbortController();
    const records = new Records();
    const waiting = flusher.next({ partition: 0, ahead: records }, FETCH, giveUp.signal);
    giveUp.abort();
    flusher.cancel(0);
    expect(await waiting).toBeNull();
  });

  it('ends the wait of a partition that is given up', async () => {
    const { flusher, begun, bring } = process(1);
    const records = new Records();
    const waiting = flusher.next({ partition: 0, ahead: records }, FETCH, NEVER);
    await pass(0);
    flusher.cancel(0);
    expect(await waiting).toBeNull();
    bring(0);
    await pass(1_000);
    expect(begun).toEqual([]);
  });
});
