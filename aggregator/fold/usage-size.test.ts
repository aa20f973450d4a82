import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AGGREGATION_TYPES,
  COUNT_EVENTS,
  type MeterAggregation,
} from '../../contract/aggregation.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { mergeRecords } from '../../contract/records/record-parts.js';
import { usageCharactersOf } from '../../contract/records-of-events.js';
import { MINUTE_CHARACTERS_MAX } from '../../contract/usage-minute.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { EVENT, plainText } from '../testing/protocol-steps.js';
import { decodeRecord, type DecodedRecord } from './candidate.js';
import { batchLength } from './cut-batch.js';
import { encodeBatch } from './encode-rows.js';
import { foldBatch } from './fold-batch.js';
import { indexMeters } from './meter-index.js';
import { charactersOfDeltas, createUsageSizer } from './usage-size.js';

const ID = 'tenant_01HZZZZZZZZZZZZZZZZZZZZZZZ';
const environment = { tenantId: ID, environmentId: ID };
const METER: MeterDefinition = {
  environment,
  meterId: ID,
  version: 1,
  eventName: EVENT.eventName,
  filters: [],
  aggregation: COUNT_EVENTS,
  generation: Number.MAX_SAFE_INTEGER,
};
const hash = (): string => 'f'.repeat(32);

const valueOf = (events: readonly UsageEvent[]): string =>
  encodeEventRecord({ environment, receivedAtMs: 0, events });

const recordOf = (offset: number, events: readonly UsageEvent[]): DecodedRecord =>
  decodeRecord({ offset, appendedAtMs: 0, value: valueOf(events) }, plainText);

describe('the usage of a record', () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 });
  const event = fc
    .record({ eventId: text, externalCustomerId: text, source: text, group: text, n: fc.float() })
    .map(({ group, n, ...members }): UsageEvent => ({
      ...EVENT,
      ...members,
      properties: { g: group, n: String(n) },
    }));

  it('is never more than what is allowed for it, of any type, text and group', () => {
    const aggregation = fc.record({
      type: fc.constantFrom(...AGGREGATION_TYPES),
      groupBy: fc.constantFrom(null, 'g', 'n'),
    });
    const events = fc.array(event, { maxLength: 20 });
    const drawn = fc.tuple(events, fc.array(aggregation, { maxLength: 9 }));
    fc.assert(
      fc.property(drawn, ([events, aggregations]) => {
        const meters = aggregations.map((of, index): MeterDefinition => ({
          ...METER,
          generation: METER.generation - index,
          aggregation: { ...COUNT_EVENTS, ...of, field: 'n' } satisfies MeterAggregation,
        }));
        const index = indexMeters(meters, hash);
        const record = recordOf(0, events);
        const folded = foldBatch([record], new Map(), index);
        const range = { logId: ID, partition: 4_095, start: 0, end: Number.MAX_SAFE_INTEGER };
        const { usage } = encodeBatch(range, folded);
        const { rows, characters } = createUsageSizer(index)(record);
        expect(usage.rows).toBeLessThanOrEqual(rows + 1);
        const { length } = usage.bytes.toString();
        expect(length).toBeLessThanOrEqual(characters + MINUTE_CHARACTERS_MAX);
        expect(charactersOfDeltas(folded.deltas)).toBeLessThanOrEqual(characters);
        const ofRecord = usageCharactersOf(valueOf(events), events.length);
        expect(characters).toBeLessThanOrEqual(MINUTE_CHARACTERS_MAX + meters.length * ofRecord);
      }),
    );
  });
});

it('the rows of a merged record count the accepted events of each of its parts', () => {
  const parts = [0, 3_600_000, 7_200_000].map((receivedAtMs) =>
    encodeEventRecord({ environment, receivedAtMs, events: [EVENT] }),
  );
  const value = mergeRecords(parts);
  const record = decodeRecord({ offset: 0, appendedAtMs: 0, value }, plainText);
  const index = indexMeters([METER], plainText);
  const { accepted } = foldBatch([record], new Map(), index);
  expect(accepted).toHaveLength(3);
  expect(createUsageSizer(index)(record).rows).toBe(3 + 3);
});

describe('the texts of a batch', () => {
  const bounds = { eventsMax: 100, insertRowsMax: 1_000 };
  const grouped = (count: number) =>
    indexMeters(
      Array.from({ length: count }, (_, generation): MeterDefinition => ({
        ...METER,
        generation,
        aggregation: { ...COUNT_EVENTS, groupBy: 'g' },
      })),
      plainText,
    );
  const records = Array.from({ length: 10 }, (_, offset) =>
    recordOf(offset, [{ ...EVENT, eventId: `${offset}`, properties: { g: 'x'.repeat(10_000) } }]),
  );

  it('end it, however few its rows are', () => {
    const lengthWith = (meters: number): number =>
      batchLength(records, grouped(meters), { ...bounds, charactersMax: 100_000 });
    expect([0, 1, 2, 4, 50].map(lengthWith)).toEqual([10, 9, 4, 2, 1]);
  });
});

describe('the expressions of a batch', () => {
  const costly = (count: number, expression: string) =>
    indexMeters(
      Array.from({ length: count }, (_, generation): MeterDefinition => ({
        ...METER,
        generation,
        aggregation: { ...COUNT_EVENTS, type: 'SUM', expression },
      })),
      plainText,
    );
  const records = Array.from({ length: 30 }, (_, offset) =>
    recordOf(
      offset,
      Array.from({ length: 40 }, (_none, index) => ({ ...EVENT, eventId: `${offset} ${index}` })),
    ),
  );
  const bounds = { eventsMax: 10_000, insertRowsMax: 1_000_000, charactersMax: 1e12 };

  it('end it when they cost more than a second, but for one record', () => {
    const quotients = Array.from({ length: 20 }, () => 'a*b/(c*d)').join(',');
    const lengthWith = (meters: number): number =>
      batchLength(records, costly(meters, `max(${quotients})`), bounds);
    // Each costs 341 microseconds an event.
    expect([0, 1, 10, 14, 100].map(lengthWith)).toEqual([30, 30, 7, 5, 1]);
  });
});
