import { describe, expect, it } from 'vitest';
import { METERS_OF_EVENT_NAME_MAX, meterMatches, VERSIONS_COUNTED_MAX } from './meter.js';
import { BULK_EVENTS_MAX } from './records-of-events.js';
import { BLOCK_ROWS_MAX } from './table-column.js';

const filters = [
  { key: 'method', values: ['GET'] },
  { key: 'status', values: ['200', '206', '304'] },
];
const meter = { eventName: 'request', filters };
const event = { eventName: 'request', properties: { method: 'GET', status: '206', other: 'x' } };

describe('meterMatches (domain 7.3)', () => {
  it('joins filters by AND and the values of one by OR', () => {
    expect(meterMatches(meter, event)).toBe(true);
    const changed = (properties: Record<string, string>): boolean =>
      meterMatches(meter, { ...event, properties: { ...event.properties, ...properties } });
    expect([changed({ method: 'POST' }), changed({ status: '404' })]).toEqual([false, false]);
  });

  it('wants the property to exist, and compares its text as it is', () => {
    const price = { eventName: 'request', filters: [{ key: 'p', values: ['1.5'] }] };
    const withProperties = (properties: Record<string, string>) => ({ ...event, properties });
    expect(meterMatches(price, withProperties({}))).toBe(false);
    expect(meterMatches(price, withProperties({ p: '1.50' }))).toBe(false);
    expect(meterMatches(price, withProperties({ p: '1.5' }))).toBe(true);
  });

  it('compares event names with their case', () => {
    expect(meterMatches({ ...meter, filters: [] }, { ...event, eventName: 'Request' })).toBe(false);
  });

  it('takes no name of a prototype for a property', () => {
    const strange = { eventName: 'request', filters: [{ key: 'toString', values: ['x'] }] };
    expect(meterMatches(strange, event)).toBe(false);
  });
});

describe('the usage rows of the largest record', () => {
  it('fit into one insert, with its count of accepted events and the marker of its batch', () => {
    const usage = BULK_EVENTS_MAX * METERS_OF_EVENT_NAME_MAX * VERSIONS_COUNTED_MAX;
    expect(usage + 2).toBeLessThanOrEqual(BLOCK_ROWS_MAX);
  });
});
