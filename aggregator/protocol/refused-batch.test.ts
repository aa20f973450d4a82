import fc from 'fast-check';
import { expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { encodeEventRecord } from '../../contract/usage-event.js';
import { decodeRecord, type DecodedRecord } from '../fold/candidate.js';
import { indexMeters } from '../fold/meter-index.js';
import type { StoredId } from '../fold/separate-duplicates.js';
import { after, checkpoint, EVENT, plainText, settings } from '../testing/protocol-steps.js';
import { completeBatch, prepareBatch } from './build-batch.js';
import { nextStep } from './machine.js';
import type { Catalog, MachineSettings, Outcome, PreparedBatch, Step } from './state.js';

const ENVIRONMENT = { tenantId: 't', environmentId: 'e' };
const NAMES = ['request', 'upload', 'query'] as const;

const METERS: readonly MeterDefinition[] = Array.from({ length: 9 }, (_, generation) => ({
  environment: ENVIRONMENT,
  meterId: `m${(generation * 4) % 9}`,
  version: 1,
  eventName: NAMES[generation % NAMES.length] ?? 'request',
  filters: [],
  aggregation: COUNT_EVENTS,
  generation,
}));

/** An event by its name and id. */
const anyEvent = fc.tuple(fc.constantFrom(...NAMES), fc.integer({ min: 0, max: 20 }));

const anyRecords = fc
  .array(fc.array(anyEvent, { maxLength: 4 }), { minLength: 1, maxLength: 6 })
  .map((records) =>
    records.map((named, offset): DecodedRecord => {
      const events = named.map(([eventName, id]) => ({
        ...EVENT,
        eventName,
        eventId: String(id),
        externalCustomerId: `c${id % 3}`,
      }));
      const body = { environment: ENVIRONMENT, receivedAtMs: 0, events };
      return decodeRecord({ offset, appendedAtMs: 0, value: encodeEventRecord(body) }, plainText);
    }),
  );

const anyMeters = fc.subarray([...METERS]).map((meters) => indexMeters(meters, plainText));

/** Up to the first insert; catalogs after the first refuse the intent. */
function intended(
  bounds: MachineSettings,
  facts: { readonly records: readonly DecodedRecord[]; readonly seen: PreparedBatch['seen'] },
  catalogs: readonly Catalog[],
): Step {
  const [first, ...newer] = catalogs;
  const outcomes: readonly Outcome[] = [
    ...(first === undefined ? [] : [{ kind: 'fetched', records: facts.records, catalog: first }]),
    { kind: 'looked_up', seen: facts.seen },
    ...newer.flatMap((catalog): readonly Outcome[] => [
      { kind: 'refused', checkpoint: { ...checkpoint, minVersion: catalog.version } },
      { kind: 'catalog_loaded', catalog },
    ]),
    { kind: 'written' },
  ] as readonly Outcome[];
  const idle = after(
    { kind: 'taken', checkpoint },
    { kind: 'gate_raised', highestEpoch: 1 },
    { kind: 'drained' },
    {
      kind: 'inspected',
      inspection: {
        rowsBeyond: 0,
        lastBatch: null,
        rawEventsBeginMs: null,
        logStart: 0,
        logEnd: 9,
      },
    },
    { kind: 'filter_warm' },
  );
  return outcomes.reduce((step, outcome) => nextStep(bounds, step.state, outcome), idle);
}

/** The first of the ids was counted before the batch. */
function seenOf(records: readonly DecodedRecord[]): ReadonlyMap<string, StoredId> {
  const [first] = records.flatMap(({ candidates }) => candidates);
  const stored = { payloadHash: '', timestampMs: 0, isTimestampGiven: false };
  return new Map(first === undefined ? [] : [[first.idHash, stored]]);
}

it('writes, however often it is refused, the very batch that a recovery makes of its range', () => {
  fc.assert(
    fc.property(
      anyRecords,
      fc.array(anyMeters, { minLength: 1, maxLength: 9 }),
      // One record always fits: four events of three meters each, their count and the marker.
      fc.integer({ min: 14, max: 30 }),
      (records, indexes, insertRowsMax) => {
        const bounds = { ...settings, eventsMax: 100, insertRowsMax };
        const catalogs = indexes.map((meters, at) => ({ version: 1 + at, meters }));
        const seen = seenOf(records);
        const { state } = intended(bounds, { records, seen }, catalogs);
        const catalog = catalogs.at(-1);
        if (state.phase !== 'inserting' || catalog === undefined) throw new Error(state.phase);
        const { end } = state.batch.range;
        const draft = { records: records.filter(({ offset }) => offset < end), catalog, end };
        const again = prepareBatch(bounds, 0, { draft, seen });
        expect(completeBatch(bounds, again)).toEqual(state.batch);
        expect(state.batch.encoded.usage.rows).toBeLessThanOrEqual(insertRowsMax);
      },
    ),
    { numRuns: 300 },
  );
});
