import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  COUNT_EVENTS,
  type AggregationType,
  type MeterAggregation,
} from '../../contract/aggregation.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { decodeRecord } from './candidate.js';
import { digestParts, encodeBatch } from './encode-rows.js';
import { foldBatch } from './fold-batch.js';
import { FOLD_VERSION } from './fold-version.js';
import { indexMeters } from './meter-index.js';

const environment = { tenantId: 't1', environmentId: 'e1' };
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hashText = (text: string): string => sha256(text).slice(0, 32);

const base: UsageEvent = {
  eventId: 'a',
  eventName: 'request',
  externalCustomerId: 'acme',
  customerId: null,
  source: '',
  timestampMs: 60_000,
  isTimestampGiven: true,
  properties: { n: '2.5' },
};

/** Version 2 made 2.499999999999999999 of 2.5 here: its quotients were rounded to 160 digits. */
const EXPRESSION_OF_VERSION_3: Partial<MeterAggregation> = {
  type: 'AVG',
  field: null,
  expression: 'n / 3 * 3',
};

function meterOf(type: AggregationType, index: number): MeterDefinition {
  const aggregation = {
    ...COUNT_EVENTS,
    type,
    field: type === 'COUNT' ? null : 'n',
    multiplier: type === 'SUM_WITH_MULTIPLIER' ? '3' : null,
    groupBy: type === 'MAX' ? 'region' : null,
  };
  const meterId = `m-${type}`;
  const filters = type === 'SUM' ? [{ key: 'plan', values: ['pro', 'max'] }] : [];
  const generation = index + 1;
  return {
    environment,
    meterId,
    version: 1,
    eventName: 'request',
    filters,
    aggregation,
    generation,
  };
}

/** Duplicates, a conflict, two sources, two forms of customer, unreadable values, a dead letter. */
const VALUES = [
  encodeEventRecord({
    environment,
    receivedAtMs: 7,
    events: [
      base,
      { ...base, eventId: 'b', properties: { n: '1e3', plan: 'pro' }, source: 'web' },
      {
        ...base,
        eventId: 'c',
        timestampMs: 119_999,
        customerId: 'c1',
        externalCustomerId: null,
        properties: { n: 'none', region: 'eu' },
      },
      { ...base, properties: { n: '1' } },
      base,
    ],
  }),
  encodeEventRecord({
    environment,
    receivedAtMs: 3_600_007,
    events: [{ ...base, eventId: 'd', properties: { n: '-4', plan: 'max' } }],
  }),
  '{',
];

/** The types of version 1. A type that is added writes rows of its own and changes no other. */
const TYPES: readonly AggregationType[] = [
  ...(['COUNT', 'SUM', 'AVG', 'COUNT_UNIQUE', 'LATEST'] as const),
  ...(['SUM_WITH_MULTIPLIER', 'MAX', 'WEIGHTED_SUM'] as const),
];
const METERS: readonly MeterDefinition[] = [
  ...TYPES.map(meterOf),
  {
    ...meterOf('AVG', TYPES.length),
    meterId: 'm-expression',
    aggregation: { ...COUNT_EVENTS, ...EXPRESSION_OF_VERSION_3 },
  },
];
/**
 * Digest of the rows that the fold of each version wrote when it was introduced; versions 1 and 2
 * without the meter with an expression.
 */
const DIGESTS: Readonly<Record<number, string>> = {
  1: '12a8be629448e1e1fa61cff9a15b391a7a4c5d1a74a8e7b0369c4b82c6ad8237',
  2: 'bf8ef2da209703c97ad98252fad8c4f9f14a6dab07fd4e2c22476f4ef76338bd',
  3: '8bd491b0d16e12b5aba1a1b9c1ba45496b8397282192455d74d75ff1338792b1',
};

it('writes the same bytes as long as the fold version is the same', () => {
  const records = VALUES.map((value, offset) =>
    decodeRecord({ offset, appendedAtMs: 9, value }, hashText),
  );
  const range = { logId: 'log', partition: 0, start: 0, end: VALUES.length };
  const folded = foldBatch(records, new Map(), indexMeters(METERS, hashText));
  const parts = digestParts(encodeBatch(range, folded));
  expect(folded.duplicates.map(({ isConflict }) => isConflict)).toEqual([true, false]);
  expect(sha256(parts.join(''))).toBe(DIGESTS[FOLD_VERSION]);
});
