import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS, type AggregationType } from '../../contract/aggregation.js';
import type { Environment } from '../../contract/environment.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { decodeRecord, type DecodedRecord } from './candidate.js';
import { encodeBatch } from './encode-rows.js';
import { foldBatch } from './fold-batch.js';
import { indexMeters, type MeterIndex } from './meter-index.js';
import { countsTheSame, keepFold, refold } from './refold-batch.js';
import { AssertionFailed } from '../../runtime/failure.js';
import { usageDeltas } from './usage-deltas.js';
import type { StoredId } from './separate-duplicates.js';
import { summarizeBatch } from './summarize-batch.js';

const ENVIRONMENTS: readonly Environment[] = ['e1', 'e2'].map((environmentId) => ({
  tenantId: 't1',
  environmentId,
}));
const NAMES = ['request', 'upload'] as const;
const TYPES: readonly AggregationType[] = ['COUNT', 'SUM', 'MAX', 'COUNT_UNIQUE', 'LATEST'];
const range = { logId: 'log', partition: 0, start: 0, end: 100 };
const hashText = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 32);

/** A meter of each generation; some share an id, as the versions of a meter that is changed do. */
const METERS: readonly MeterDefinition[] = Array.from({ length: 24 }, (_, generation) => {
  const type = TYPES[generation % TYPES.length] ?? 'COUNT';
  const aggregation = { ...COUNT_EVENTS, type, field: type === 'COUNT' ? null : 'n' };
  return {
    environment: ENVIRONMENTS[generation % 2] ?? { tenantId: '', environmentId: '' },
    // Neither in the order of generations nor in that of their rows.
    meterId: `m${(generation * 7) % 11}`,
    version: 1 + Math.floor(generation / 11),
    eventName: NAMES[Math.floor(generation / 2) % 2] ?? 'request',
    filters: generation % 3 === 0 ? [{ key: 'plan', values: ['pro'] }] : [],
    aggregation: { ...aggregation, groupBy: generation % 4 === 0 ? 'plan' : null },
    generation,
  };
});

const anyEvent = fc.record({
  id: fc.integer({ min: 0, max: 12 }),
  name: fc.constantFrom(...NAMES),
  customer: fc.constantFrom('acme', 'zoo'),
  atMs: fc.constantFrom(60_000, 61_000, 120_000),
  plan: fc.constantFrom(undefined, 'pro', 'free'),
  n: fc.constantFrom(undefined, '1', '-2.5', 'none'),
});
type AnyEvent = typeof anyEvent extends fc.Arbitrary<infer Value> ? Value : never;

function eventOf({ id, name, customer, atMs, plan, n }: AnyEvent): UsageEvent {
  return {
    eventId: String(id),
    eventName: name,
    externalCustomerId: customer,
    customerId: null,
    source: '',
    timestampMs: atMs,
    isTimestampGiven: true,
    properties: { ...(plan === undefined ? {} : { plan }), ...(n === undefined ? {} : { n }) },
  };
}

const anyRecords = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 1 }), fc.array(anyEvent, { maxLength: 6 })), {
    maxLength: 8,
  })
  .map((records) =>
    records.map(([at, events], offset): DecodedRecord => {
      const environment = ENVIRONMENTS[at] ?? { tenantId: '', environmentId: '' };
      const body = { environment, receivedAtMs: 7 + offset, events: events.map(eventOf) };
      return decodeRecord({ offset, appendedAtMs: 9, value: encodeEventRecord(body) }, hashText);
    }),
  );

const anyCatalog = fc.subarray([...METERS]).map((meters) => indexMeters(meters, hashText));

/** Every so manyth id of the records was counted before. */
function seenOf(records: readonly DecodedRecord[], every: number): ReadonlyMap<string, StoredId> {
  const ids = records.flatMap(({ candidates }) => candidates.map(({ idHash }) => idHash));
  const known = { payloadHash: '', timestampMs: 0, isTimestampGiven: false };
  return new Map(ids.filter((_, at) => at % every === 0).map((idHash) => [idHash, known]));
}

describe('refold', () => {
  it('gives what a fold from the records gives, after any changes of the catalog', () => {
    fc.assert(
      fc.property(
        anyRecords,
        fc.integer({ min: 2, max: 9 }),
        fc.array(anyCatalog, { minLength: 1, maxLength: 5 }),
        (records, every, catalogs) => {
          const seen = seenOf(records, every);
          let from: MeterIndex = new Map();
          let kept = keepFold(range, foldBatch(records, seen, from));
          for (const to of catalogs) {
            kept = refold(kept, { from, to });
            from = to;
            const folded = foldBatch(records, seen, to);
            expect(kept.encoded).toEqual(encodeBatch(range, folded));
            expect(summarizeBatch(kept.folded)).toEqual(summarizeBatch(folded));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('does not fold or encode again what the catalog does not change', () => {
    const events = [0, 1, 2].map((id) =>
      eventOf({ id, name: 'request', customer: 'acme', atMs: 60_000, plan: 'pro', n: '1' }),
    );
    const records = ENVIRONMENTS.map((environment, offset) => {
      const value = encodeEventRecord({ environment, receivedAtMs: 7, events });
      return decodeRecord({ offset, appendedAtMs: 9, value }, hashText);
    });
    const [one, two] = [METERS[0], METERS[1]].map((meter) => (meter === undefined ? [] : [meter]));
    const from = indexMeters(one ?? [], hashText);
    const to = indexMeters([...(one ?? []), ...(two ?? [])], hashText);
    const kept = keepFold(range, foldBatch(records, new Map(), from));
    const again = refold(kept, { from, to });
    expect(again.encoded.events).toBe(kept.encoded.events);
    expect(again.encoded.ids).toBe(kept.encoded.ids);
    expect(again.folded.deltas).toHaveLength(2);
    expect(again.folded.deltas).toContain(kept.folded.deltas[0]);
  });
});

describe('what must be there', () => {
  const event = eventOf({
    id: 1,
    name: 'request',
    customer: 'acme',
    atMs: 60_000,
    plan: 'pro',
    n: '1',
  });
  const catalog = indexMeters(METERS, hashText);
  const keptOf = () => {
    const [environment = { tenantId: '', environmentId: '' }] = ENVIRONMENTS;
    const value = encodeEventRecord({ environment, receivedAtMs: 7, events: [event] });
    const record = decodeRecord({ offset: 0, appendedAtMs: 9, value }, hashText);
    return keepFold(range, foldBatch([record], new Map(), catalog));
  };

  it('is a line for every row: a row without one would be stored empty', () => {
    const kept = keptOf();
    const lost = { ...kept, deltaLines: kept.deltaLines.slice(1) };
    expect(() => refold(lost, { from: catalog, to: catalog })).toThrow(AssertionFailed);
  });

  it('is an event at every position: one that is not there would count on no meter', () => {
    const { unique } = keptOf().folded;
    expect(() => usageDeltas(unique, catalog, [0, unique.length])).toThrow(AssertionFailed);
  });
});

describe('countsTheSame', () => {
  it('is true exactly when no event that counts has a meter in one catalog only', () => {
    fc.assert(
      fc.property(anyRecords, anyCatalog, anyCatalog, (records, from, to) => {
        const kept = keepFold(range, foldBatch(records, new Map(), from));
        const generations = (meters: MeterIndex) =>
          // A repeat of an id within the batch counts on no meter, whatever its name.
          kept.folded.unique
            .flatMap((of) => meters.get(of.meterKey) ?? [])
            .map(({ definition }) => definition.generation);
        const [before, after] = [new Set(generations(from)), new Set(generations(to))];
        expect(countsTheSame(kept, { from, to })).toBe(
          before.size === after.size && [...before].every((generation) => after.has(generation)),
        );
      }),
    );
  });
});
