import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eventKey, partitionOf } from '../../contract/event-key.js';
import { decodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { acceptBulk, type BulkOutcome } from './accept-request.js';
import { readJson } from './read-json.js';
import { recordsOfEvents } from '../../contract/records-of-events.js';

const CONTEXT = {
  receivedAtMs: Date.UTC(2026, 10, 20, 12),
  eventIdAt: (position: number): string => `event_made_${position}`,
};

function evaluate(source: string): BulkOutcome {
  const document = readJson(source);
  if ('problem' in document) throw new Error(document.problem);
  return acceptBulk(document, CONTEXT);
}

const EVENT = { event_name: 'call', external_customer_id: 'acme' };

function outcomeKinds(source: string): readonly string[] {
  const outcome = evaluate(source);
  return outcome.kind === 'evaluated' ? outcome.outcomes.map((one) => one.kind) : [];
}

describe('a bulk request', () => {
  test('has one outcome per event, in the order of the request', () => {
    const outcome = evaluate(
      JSON.stringify({ events: [EVENT, { ...EVENT, event_name: '' }, EVENT] }),
    );
    expect(outcome).toMatchObject({
      kind: 'evaluated',
      outcomes: [
        { kind: 'accepted', event: { eventId: 'event_made_0' } },
        { kind: 'rejected', eventId: null, problem: { member: 'event_name' } },
        { kind: 'accepted', event: { eventId: 'event_made_2' } },
      ],
    });
  });

  test('keeps the number texts of each event apart', () => {
    const event = (text: string): string =>
      `{"event_name":"n","customer_id":"c","properties":{"v":${text}}}`;
    const outcome = evaluate(`{"events":[${event('1.50')},${event('"1.50"')},${event('1.5')}]}`);
    expect(outcome).toMatchObject({
      outcomes: [
        { event: { properties: { v: '1.50' } } },
        { event: { properties: { v: '1.50' } } },
        { event: { properties: { v: '1.5' } } },
      ],
    });
  });

  test('may have 1 to 1000 events', () => {
    const bulk = (count: number): string =>
      JSON.stringify({ events: Array.from({ length: count }, () => EVENT) });
    expect(outcomeKinds(bulk(1))).toEqual(['accepted']);
    expect(outcomeKinds(bulk(1000))).toHaveLength(1000);
    for (const count of [0, 1001]) {
      expect(evaluate(bulk(count))).toMatchObject({
        kind: 'rejected',
        problem: { member: 'events' },
      });
    }
  });

  test.each([
    ['body', '[]'],
    ['body', 'null'],
    ['body', '"x"'],
    ['events', '{}'],
    ['events', '{"events":{}}'],
    ['events', '{"events":null}'],
    ['event', '{"event":[],"events":[]}'],
    ['__proto__', '{"__proto__":{"events":[1]}}'],
  ])('is rejected naming %s: %s', (member, source) => {
    expect(evaluate(source)).toMatchObject({ kind: 'rejected', problem: { member } });
  });

  test.each(['null', '1', '"x"', '[]', '{}'])('rejects %s in the list of events', (event) => {
    expect(outcomeKinds(`{"events":[${event}]}`)).toEqual(['rejected']);
  });
});

describe('the records of accepted events', () => {
  const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };
  const eventOf = (eventId: string, source: string): UsageEvent => ({
    eventId,
    eventName: 'call',
    externalCustomerId: 'acme',
    customerId: null,
    source,
    timestampMs: 1,
    isTimestampGiven: true,
    properties: {},
  });

  test('hold every event once, in its partition, in the order of the request', () => {
    const ids = fc.array(fc.string({ minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 12 }), (eventIds, partitionCount) => {
        const events = eventIds.map((id, index) => eventOf(id, String(index)));
        const context = { environment, receivedAtMs: 5, partitionCount };
        const records = recordsOfEvents(events, context);
        expect(new Set(records.map((record) => record.partition)).size).toBe(records.length);
        for (const record of records) {
          const decoded = decodeEventRecord(record.value);
          if (typeof decoded === 'string') throw new Error(decoded);
          const expected = events.filter(
            (event) =>
              partitionOf(eventKey(environment, event.eventId), partitionCount) ===
              record.partition,
          );
          expect(decoded).toEqual({ environment, receivedAtMs: 5, events: expected });
          expect(record.key).toBe(eventKey(environment, expected[0]?.eventId ?? ''));
        }
        const counts = records.map((record) => {
          const decoded = decodeEventRecord(record.value);
          return typeof decoded === 'string' ? 0 : decoded.events.length;
        });
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(events.length);
      }),
    );
  });

  test('hold both copies of an id in one partition, the earlier one first', () => {
    const events = [eventOf('same', 'first'), eventOf('other', 'x'), eventOf('same', 'second')];
    const records = recordsOfEvents(events, { environment, receivedAtMs: 5, partitionCount: 12 });
    const copies = records.flatMap((record) => {
      const decoded = decodeEventRecord(record.value);
      return typeof decoded === 'string'
        ? []
        : decoded.events.filter((event) => event.eventId === 'same').map((event) => event.source);
    });
    expect(copies).toEqual(['first', 'second']);
  });

  test('carry a property named __proto__ to the reader', () => {
    const properties = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const [record] = recordsOfEvents([{ ...eventOf('e', ''), properties }], {
      environment,
      receivedAtMs: 5,
      partitionCount: 1,
    });
    const decoded = decodeEventRecord(record?.value ?? '');
    if (typeof decoded === 'string') throw new Error(decoded);
    expect(Object.entries(decoded.events[0]?.properties ?? {})).toEqual([['__proto__', 'x']]);
  });
});
