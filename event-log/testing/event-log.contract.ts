import { expect } from 'vitest';
import { DependencyError } from '../../runtime/failure.js';
import {
  OffsetOutOfRange,
  RECORD_BYTES_MAX,
  type AppendRequest,
  type EventLogReader,
  type EventLogWriter,
  type LogRecord,
} from '../interface/event-log.js';

/** A log for one test, with what only its implementation can do to it. */
export type LogUnderTest = {
  openWriter(): Promise<EventLogWriter>;
  openReader(): Promise<EventLogReader>;
  /** Removes the records of partition 0 below the offset, as retention would. */
  removeBelow(offset: number): Promise<void>;
  /** Deletes the log and creates it again under the same name. */
  recreate(): Promise<void>;
};

/** Partitions of every log under test. */
export const CONTRACT_PARTITIONS = 4;
/** Long, because the machine may be busy; nothing here measures speed. */
const PATIENCE_MS = 20_000;

export const text = (value: string, partition = 0): AppendRequest => ({
  partition,
  key: `tenant|environment|${value.slice(0, 20)}`,
  value,
});

export const valuesOf = (records: readonly LogRecord[]): readonly string[] =>
  records.map(({ value }) => value);

type Range = { readonly partition?: number; readonly from?: number; readonly count: number };

/** Reads until `count` records are there, and checks that their offsets have no gap. */
export async function readAll(reader: EventLogReader, range: Range): Promise<LogRecord[]> {
  const { partition = 0, from = 0, count } = range;
  const records: LogRecord[] = [];
  const deadlineMs = Date.now() + PATIENCE_MS;
  while (records.length < count && Date.now() < deadlineMs) {
    const fromOffset = from + records.length;
    const bounds = { recordsMax: count - records.length, bytesMax: 4_000_000, waitMs: 500 };
    records.push(...(await reader.read({ partition, fromOffset, ...bounds })));
  }
  expect(records.map(({ offset }) => offset)).toEqual(
    Array.from({ length: count }, (_none, index) => from + index),
  );
  return records;
}

/** vitest's `test`, extended by the fixtures that the contract names. */
type TestWith<Fixtures> = (name: string, work: (fixtures: Fixtures) => Promise<void>) => unknown;
type LogTest = TestWith<{ readonly log: LogUnderTest }>;

async function withBoth(
  log: LogUnderTest,
  work: (writer: EventLogWriter, reader: EventLogReader) => Promise<void>,
): Promise<void> {
  const writer = await log.openWriter();
  const reader = await log.openReader();
  try {
    await work(writer, reader);
  } finally {
    await reader.close();
    await writer.close();
  }
}

const ALL = { partition: 0, fromOffset: 0, recordsMax: 100, bytesMax: 1e9, waitMs: 0 };

/** Registers the tests that every implementation of the event log must pass. */
export function registerContract(test: LogTest): void {
  registerAppends(test);
  registerAppendLimits(test);
  registerReads(test);
  registerOrder(test);
  registerPositions(test);
}

function registerAppends(test: LogTest): void {
  test('a reader that is opened later reads an acknowledged record', async ({ log }) => {
    const writer = await log.openWriter();
    await writer.append([text('first')]);
    const reader = await log.openReader();
    const [record] = await reader.read({ ...ALL, waitMs: PATIENCE_MS });
    expect(record).toMatchObject({ offset: 0, value: 'first' });
    expect(Math.abs((record?.appendedAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
    await Promise.all([reader.close(), writer.close()]);
  });

  test('concurrent appends of two writers get contiguous offsets and keep their order', async ({
    log,
  }) => {
    await withBoth(log, async (writer, reader) => {
      const other = await log.openWriter();
      const calls = Array.from({ length: 60 }, async (_none, call) => {
        const records = ['a', 'b', 'c'].flatMap((step) =>
          // The order of partitions differs from call to call, which must not cause a deadlock.
          Array.from({ length: CONTRACT_PARTITIONS }, (_same, index) =>
            text(`${call}${step}`, (call + index) % CONTRACT_PARTITIONS),
          ),
        );
        await (call % 2 === 0 ? writer : other).append(records);
      });
      await Promise.all(calls);
      await other.close();
      for (let partition = 0; partition < CONTRACT_PARTITIONS; partition += 1) {
        const values = valuesOf(await readAll(reader, { partition, count: 180 }));
        for (let call = 0; call < 60; call += 1) {
          const own = values.filter((value) => value.slice(0, -1) === String(call));
          expect(own).toEqual([`${call}a`, `${call}b`, `${call}c`]);
        }
      }
    });
  });

  test('returns texts of every kind as they were appended', async ({ log }) => {
    await withBoth(log, async (writer, reader) => {
      const values = ['', ' ', '{"name":"Zoë 😀 \\u0000"}', 'a\0b\u0001', '\\x00', '{},"', '漢字'];
      await writer.append(values.map((value) => ({ partition: 1, key: '', value })));
      await writer.append([{ partition: 1, key: 'key\0|é|😀', value: 'last' }]);
      const found = valuesOf(await readAll(reader, { partition: 1, count: values.length + 1 }));
      expect(found).toEqual([...values, 'last']);
    });
  });
}

function registerAppendLimits(test: LogTest): void {
  test('accepts records of the largest size in one append', async ({ log }) => {
    await withBoth(log, async (writer, reader) => {
      const body = 'é'.repeat(RECORD_BYTES_MAX / 2 - 1);
      await writer.append([0, 1, 2, 3].map((partition) => text(`${partition}!${body}`, partition)));
      expect(valuesOf(await readAll(reader, { partition: 3, count: 1 }))).toEqual([`3!${body}`]);
    });
  });

  test('refuses partitions that it does not have', async ({ log }) => {
    await withBoth(log, async (writer) => {
      await expect(async () => writer.append([text('x', CONTRACT_PARTITIONS)])).rejects.toThrow(
        'the log has no partition',
      );
      await writer.append([]);
    });
  });

  test('closing waits for running appends and refuses later ones', async ({ log }) => {
    const writer = await log.openWriter();
    const appends = Array.from({ length: 50 }, (_none, index) => writer.append([text(`${index}`)]));
    await writer.close();
    await Promise.all(appends);
    await expect(writer.append([text('late')])).rejects.toThrow(DependencyError);
    const reader = await log.openReader();
    await readAll(reader, { count: 50 });
    await reader.close();
  });

  test('keeps its id until it is created again', async ({ log }) => {
    const [first, second] = await Promise.all([log.openWriter(), log.openReader()]);
    expect(first.identity).toEqual(second.identity);
    expect(first.identity.partitionCount).toBe(CONTRACT_PARTITIONS);
    expect(first.identity.logId).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    await Promise.all([first.close(), second.close()]);
    await log.recreate();
    const third = await log.openReader();
    expect(third.identity.logId).not.toBe(first.identity.logId);
    expect(third.identity.partitionCount).toBe(CONTRACT_PARTITIONS);
    await third.close();
  });
}

function registerReads(test: LogTest): void {
  test('reads within the bounds of records and bytes, but at least one record', async ({ log }) => {
    await withBoth(log, async (writer, reader) => {
      await writer.append(['1111', '2222', 'ééé', '4444'].map((value) => text(value)));
      await readAll(reader, { count: 4 });
      const read = async (bounds: Partial<typeof ALL>): Promise<readonly string[]> =>
        valuesOf(await reader.read({ ...ALL, waitMs: PATIENCE_MS, ...bounds }));
      expect(await read({ recordsMax: 1 })).toEqual(['1111']);
      expect(await read({ recordsMax: 1, fromOffset: 1 })).toEqual(['2222']);
      expect(await read({ bytesMax: 1, fromOffset: 2 })).toEqual(['ééé']);
      expect(await read({ bytesMax: 0, fromOffset: 3 })).toEqual(['4444']);
      // Reading ends after the record that reaches the sum, counted in UTF-8.
      expect((await read({ bytesMax: 14 })).length).toBeLessThanOrEqual(3);
      expect(await reader.read({ ...ALL, fromOffset: 4 })).toEqual([]);
    });
  });

  test('gives a waiting reader the next record, and nothing after the time or on a signal', async ({
    log,
  }) => {
    await withBoth(log, async (writer, reader) => {
      const startedMs = Date.now();
      expect(await reader.read({ ...ALL, waitMs: 300 })).toEqual([]);
      expect(Date.now() - startedMs).toBeGreaterThanOrEqual(290);
      const told = { ...ALL, waitMs: PATIENCE_MS, signal: AbortSignal.timeout(100) };
      for (const request of [told, told]) expect(await reader.read(request)).toEqual([]);
      const waiting = reader.read({ ...ALL, waitMs: PATIENCE_MS });
      await writer.append([text('at last')]);
      expect(valuesOf(await waiting)).toEqual(['at last']);
      expect(Date.now() - startedMs).toBeLessThan(PATIENCE_MS / 4);
    });
  });
}

function registerOrder(test: LogTest): void {
  test('never shows an offset before all lower ones', async ({ log }) => {
    await withBoth(log, async (writer, reader) => {
      const other = await log.openWriter();
      const append = async (to: EventLogWriter, count: number): Promise<void> => {
        for (let index = 0; index < count; index += 1) await to.append([text(`${index}`)]);
      };
      const writing = Promise.all([
        ...[1, 2, 3].map(() => append(writer, 40)),
        ...[1, 2, 3].map(() => append(other, 40)),
      ]);
      // `readAll` reads all the time and fails at the first gap.
      await readAll(reader, { count: 240 });
      await writing;
      await other.close();
    });
  });

  test('reads the same records with the same times again', async ({ log }) => {
    await withBoth(log, async (writer, reader) => {
      await writer.append([text('a'), text('b')]);
      await writer.append([text('c'), text('d')]);
      const once = await readAll(reader, { count: 4 });
      expect(await readAll(reader, { count: 4 })).toEqual(once);
      expect(await readAll(reader, { from: 1, count: 3 })).toEqual(once.slice(1));
      await reader.release(0);
      await reader.release(0);
      expect(await readAll(reader, { from: 3, count: 1 })).toEqual(once.slice(3));
      const times = once.map(({ appendedAtMs }) => appendedAtMs);
      expect(times).toEqual([...times].sort((left, right) => left - right));
    });
  });
}

function registerPositions(test: LogTest): void {
  test('knows the bounds of a partition, and refuses offsets outside them', async ({ log }) => {
    await withBoth(log, async (writer, reader) => {
      expect(await reader.bounds(0)).toEqual({ startOffset: 0, endOffset: 0 });
      for (const value of ['a', 'b', 'c', 'd']) await writer.append([text(value)]);
      await readAll(reader, { count: 4 });
      expect(await reader.bounds(0)).toEqual({ startOffset: 0, endOffset: 4 });
      await expect(reader.read({ ...ALL, fromOffset: 5 })).rejects.toThrow(OffsetOutOfRange);
      await reader.commit(0, 2);
      await log.removeBelow(2);
      const fresh = await log.openReader();
      expect(await fresh.bounds(0)).toEqual({ startOffset: 2, endOffset: 4 });
      await expect(fresh.read({ ...ALL, fromOffset: 1 })).rejects.toThrow(OffsetOutOfRange);
      expect(valuesOf(await readAll(fresh, { from: 2, count: 2 }))).toEqual(['c', 'd']);
      await fresh.close();
    });
  });

  test('a partition that nobody reads on does not delay another', async ({ log }) => {
    await withBoth(log, async (writer, reader) => {
      const value = 'x'.repeat(100_000);
      for (let part = 0; part < 4; part += 1) {
        const some = Array.from({ length: 75 }, (_none, index) => `${part * 75 + index}:${value}`);
        await writer.append(some.flatMap((record) => [text(record, 0), text(record, 1)]));
      }
      const one = { ...ALL, recordsMax: 1, waitMs: PATIENCE_MS };
      expect(await reader.read(one)).toHaveLength(1);
      const numbers = (records: readonly LogRecord[]): readonly number[] =>
        records.map((record) => Number(record.value.split(':')[0]));
      const inOrder = Array.from({ length: 300 }, (_none, index) => index);
      expect(numbers(await readAll(reader, { partition: 1, count: 300 }))).toEqual(inOrder);
      const rest = await readAll(reader, { partition: 0, from: 1, count: 299 });
      expect(numbers(rest)).toEqual(inOrder.slice(1));
    });
  });
}

/** A server that can be stopped and started again. */
export type Outage = { kill(): Promise<void>; restart(): Promise<void> };

/** Registers the tests that every event log must pass when its server is killed and restarted. */
export function registerOutageContract(
  test: TestWith<{ readonly log: LogUnderTest; readonly outage: Outage }>,
  timeoutMs: number,
): void {
  test('fails in time while the server is down, keeps acknowledged records, and recovers', async ({
    log,
    outage,
  }) => {
    await withBoth(log, async (writer, reader) => {
      const records = await Promise.all(
        ['a', 'b', 'c'].map(async (value) => {
          await writer.append([text(value)]);
          return value;
        }),
      );
      await outage.kill();
      const startedMs = Date.now();
      await expect(writer.append([text('lost or not')])).rejects.toMatchObject({
        name: 'DependencyError',
        dependency: 'event-log',
        isRetryable: true,
      });
      expect(Date.now() - startedMs).toBeLessThan(timeoutMs + 2_000);
      await expect(writer.ping()).rejects.toThrow(DependencyError);
      await expect(readUntilFailure(reader)).rejects.toThrow(DependencyError);
      await outage.restart();
      await eventually(() => writer.append([text('after')]));
      await eventually(() => reader.ping());
      const values = await eventually(() => readUntil(reader, 'after'));
      expect([...values].filter((value) => value.length === 1).sort()).toEqual(records);
    });
  });
}

async function readUntilFailure(reader: EventLogReader): Promise<void> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  while (Date.now() < deadlineMs) await reader.read({ ...ALL, fromOffset: 3, waitMs: 200 });
}

async function readUntil(reader: EventLogReader, last: string): Promise<readonly string[]> {
  const values: string[] = [];
  while (!values.includes(last)) {
    const fromOffset = values.length;
    values.push(...valuesOf(await reader.read({ ...ALL, fromOffset, waitMs: 500 })));
  }
  return values;
}

/** Retries as long as the log fails with a DependencyError. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof DependencyError) || Date.now() > deadlineMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
