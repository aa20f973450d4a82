import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  customerKeyOfEvent,
  customerKeysOf,
  decodeEventRecord,
  encodeEventRecord,
  EVENT_TIMESTAMP_END_MS,
  type EventRecord,
} from './usage-event.js';

const text = fc.string({ unit: 'binary', maxLength: 20 });
const event = fc.record({
  eventId: text,
  eventName: text,
  externalCustomerId: fc.option(text),
  customerId: text,
  source: text,
  timestampMs: fc.integer({ min: 0, max: EVENT_TIMESTAMP_END_MS - 1 }),
  isTimestampGiven: fc.boolean(),
  properties: fc.dictionary(text, text),
});
const record: fc.Arbitrary<EventRecord> = fc.record({
  environment: fc.record({ tenantId: text, environmentId: text }),
  receivedAtMs: fc.integer({ min: 0, max: EVENT_TIMESTAMP_END_MS - 1 }),
  events: fc.array(event, { maxLength: 5 }),
});

const good = ['id', 'name', 'acme', null, '', 1, 1, {}];
function recordWith(changes: object): string {
  return JSON.stringify({ v: 1, t: 't', e: 'e', r: 5, events: [good], ...changes });
}

describe('event records', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(record, (written) => {
        const read = decodeEventRecord(encodeEventRecord(written));
        expect(JSON.stringify(read)).toBe(JSON.stringify(written));
      }),
    );
  });

  it.each([
    ['{', 'not_json'],
    ['[]', 'malformed_record'],
    ['null', 'malformed_record'],
    [recordWith({ v: 2 }), 'unknown_version'],
    [recordWith({ t: 3 }), 'malformed_record'],
    [recordWith({ r: 'now' }), 'malformed_record'],
    [recordWith({ events: {} }), 'malformed_record'],
    [recordWith({ events: [good, good.slice(1)] }), 'malformed_event'],
    [recordWith({ events: [good.with(2, null)] }), 'malformed_event'],
    [recordWith({ events: [good.with(5, -1)] }), 'malformed_event'],
    [recordWith({ events: [good.with(5, EVENT_TIMESTAMP_END_MS)] }), 'malformed_event'],
    [recordWith({ events: [good.with(7, { a: 1 })] }), 'malformed_event'],
    [recordWith({ events: [good.with(0, '\ud83d')] }), 'malformed_event'],
    [recordWith({ events: [good.with(7, { '\ude00': 'x' })] }), 'malformed_event'],
  ])('that cannot be read name the reason: %s', (value, reason) => {
    expect(decodeEventRecord(value)).toBe(reason);
  });

  it('may hold escaped pairs and texts that only look like an escape', () => {
    const escaped = recordWith({ events: [good.with(0, 'X\\ud83d')] }).replace(
      'X',
      '\\ud83d\\ude00',
    );
    expect(decodeEventRecord(escaped)).toMatchObject({ events: [{ eventId: '😀\\ud83d' }] });
  });
});

describe('customer keys', () => {
  const base = { ...good, eventId: 'i', eventName: 'n', source: '', timestampMs: 0 };
  const rest = { isTimestampGiven: true, properties: {} };

  it('are the external id when there is one, else the customer id', () => {
    const both = { ...base, ...rest, externalCustomerId: 'acme', customerId: 'cust_1' };
    expect(customerKeyOfEvent(both)).toBe('e:acme');
    expect(customerKeyOfEvent({ ...both, externalCustomerId: null })).toBe('i:cust_1');
  });

  it('of a customer are both, so that either reference counts', () => {
    expect(customerKeysOf({ id: 'cust_1', externalId: 'acme' })).toEqual(['e:acme', 'i:cust_1']);
  });
});
