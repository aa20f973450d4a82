import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { Decimal } from '../../../contract/number/decimal.js';
import { AssertionFailed } from '../../../runtime/failure.js';
import type { UsagePart } from '../../domain/usage/aggregation-spec.js';
import { usageLine } from '../../testing/invoice-samples.js';
import { usageOfLine } from './line-usage-answer.js';
import type { LineSlicing, LineUsageQuery } from './line-usage-query.js';

const WINDOW = { startMs: 0, endMs: 60_000 };
const EARLIER = { startMs: -60_000, endMs: 0 };
const LINE: LineUsageQuery = {
  requirement: {
    lineItemId: 'calls',
    window: WINDOW,
    bucketGrid: null,
    buckets: [WINDOW],
    intervals: [EARLIER],
  },
  lineItem: usageLine('calls'),
  meter: {
    meterId: 'meter_1',
    version: 1,
    eventName: 'api_call',
    filters: [],
    aggregation: COUNT_EVENTS,
    bucketSize: 'HOUR',
    resetUsage: 'BILLING_PERIOD',
    generations: [1],
    ends: null,
    corrections: [],
  },
};
const GROUPING = {
  hasSource: true,
  hasFeature: false,
  properties: ['region'],
  featureId: 'feature_1',
};

function partOf(window: typeof WINDOW, texts: readonly string[]): UsagePart {
  const figures = { window, value: new Decimal(4), eventCount: 4, unreadableCount: 0 };
  return { source: '', group: '', texts, windows: [figures] };
}

const slices = () =>
  new Map<LineSlicing, readonly UsagePart[]>([
    ['whole', [partOf(WINDOW, [])]],
    ['by-source', [partOf(WINDOW, [])]],
    ['by-properties', [partOf(WINDOW, ['eu'])]],
    ['buckets', [partOf(WINDOW, [])]],
    ['intervals-0', [partOf(EARLIER, [])]],
  ]);

describe('the usage of a line', () => {
  it('is what was read of each of its slicings', () => {
    const { usage, buckets, intervals } = usageOfLine(LINE, slices(), GROUPING);
    expect([usage.toFixed(), buckets?.length, intervals.length]).toEqual(['4', 1, 1]);
  });

  it.each([...slices().keys()])('fails when %s was not read, in place of billing 0', (name) => {
    const lost = slices();
    lost.delete(name);
    expect(() => usageOfLine(LINE, lost, GROUPING)).toThrow(AssertionFailed);
  });
});
