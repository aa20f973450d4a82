import { describe, expect, it } from 'vitest';
import { METERS_OF_EVENT_NAME_MAX, VERSIONS_COUNTED_MAX } from './meter.js';
import {
  BULK_EVENTS_MAX,
  RECORD_CHARACTERS_MAX,
  recordsOfEvents,
  usageCharactersOf,
} from './records-of-events.js';
import { decodeEventRecord, type UsageEvent } from './usage-event.js';
import { ENCODED_CHARACTERS_MAX } from './usage-minute.js';

const environment = { tenantId: 't', environmentId: 'e' };

function eventsOf(count: number, text: string): readonly UsageEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    eventId: `${index}`,
    eventName: 'call',
    externalCustomerId: 'c',
    customerId: null,
    source: '',
    timestampMs: 1,
    isTimestampGiven: true,
    properties: { text },
  }));
}

/** The ids of the events of each record, which must be one partition's. */
function idsOf(events: readonly UsageEvent[]): readonly (readonly string[])[] {
  const records = recordsOfEvents(events, { environment, receivedAtMs: 5, partitionCount: 1 });
  return records.map(({ value }) => {
    const decoded = decodeEventRecord(value);
    if (typeof decoded === 'string') throw new Error(decoded);
    const { length } = decoded.events;
    expect(length === 1 || usageCharactersOf(value, length) <= RECORD_CHARACTERS_MAX).toBe(true);
    return decoded.events.map(({ eventId }) => eventId);
  });
}

describe('the records of events', () => {
  it('are one for a partition, as long as their usage rows fit into one text', () => {
    expect(idsOf(eventsOf(500, 'x'))).toHaveLength(1);
  });

  it('are several when their texts are long, with all events in their order', () => {
    const events = eventsOf(100, 'x'.repeat(20_000));
    const ids = idsOf(events);
    expect(ids.length).toBeGreaterThan(4);
    expect(ids.flat()).toEqual(events.map(({ eventId }) => eventId));
  });

  it('hold one event that is larger than that', () => {
    expect(idsOf(eventsOf(2, 'x'.repeat(RECORD_CHARACTERS_MAX)))).toEqual([['0'], ['1']]);
  });

  it('have no more events than a record may have, however short these are', () => {
    const ids = idsOf(eventsOf(BULK_EVENTS_MAX + 1, ''));
    expect(ids.every((some) => some.length <= BULK_EVENTS_MAX)).toBe(true);
    expect(ids.flat()).toHaveLength(BULK_EVENTS_MAX + 1);
  });

  it('make usage rows that fit into one text, with as many meters as an event name may have', () => {
    const streams = METERS_OF_EVENT_NAME_MAX * VERSIONS_COUNTED_MAX;
    expect(streams * RECORD_CHARACTERS_MAX).toBeLessThanOrEqual(ENCODED_CHARACTERS_MAX);
  });
});
