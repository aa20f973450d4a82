import { describe, expect, it } from 'vitest';
import { BULK_EVENTS_MAX } from '../records-of-events.js';
import { decodeRecordParts, mergeRecords, readRecordParts } from './record-parts.js';
import { encodeEventRecord, type EventRecord } from '../usage-event.js';

function record(tenantId: string, receivedAtMs: number, ids: readonly string[]): EventRecord {
  const events = ids.map((eventId) => ({
    eventId,
    eventName: 'call',
    externalCustomerId: 'acme',
    customerId: null,
    source: '',
    timestampMs: 1,
    isTimestampGiven: true,
    properties: {},
  }));
  return { environment: { tenantId, environmentId: 'e' }, receivedAtMs, events };
}

const ONE = record('one', 5, ['a', 'b']);
const TWO = record('two', 6, ['c']);
const BAD = '{"v":1,"t":"one","e":"e","r":5,"events":[7]}';
const LONE = encodeEventRecord(record('one', 5, ['\ud83d']));

describe('a value of the log', () => {
  it('keeps the environment, time of receipt and order of every record merged into it', () => {
    const value = mergeRecords([ONE, TWO, ONE].map(encodeEventRecord));
    expect(decodeRecordParts(value)).toEqual({ parts: [ONE, TWO, ONE], unreadable: null });
  });

  it('of one record reads as it was always written', () => {
    const value = encodeEventRecord(ONE);
    expect(mergeRecords([value])).toBe(value);
    expect(decodeRecordParts(value)).toEqual({ parts: [ONE], unreadable: null });
  });

  it.each([
    ['that is malformed', BAD],
    ['with half a surrogate pair', LONE],
  ])('loses only the part %s, which keeps its own text', (_kind, bad) => {
    const value = mergeRecords([encodeEventRecord(ONE), bad, encodeEventRecord(TWO)]);
    const unreadable = { reason: 'malformed_event', text: bad };
    expect(decodeRecordParts(value)).toEqual({ parts: [ONE, TWO], unreadable });
  });

  it('keeps several spoilt parts in one text that names no environment', () => {
    const { parts, unreadable } = decodeRecordParts(
      mergeRecords([BAD, encodeEventRecord(TWO), LONE]),
    );
    expect(parts).toEqual([TWO]);
    expect(unreadable?.text).toBe(mergeRecords([BAD, LONE]));
    expect(JSON.parse(unreadable?.text ?? '')).not.toHaveProperty('t');
  });

  const ids = Array.from({ length: BULK_EVENTS_MAX }, (_, index) => `${index}`);
  const largest = encodeEventRecord(record('one', 5, ids));

  it('may have as many events as a bulk request', () => {
    expect(decodeRecordParts(largest)).toMatchObject({ parts: [{ receivedAtMs: 5 }] });
    expect(decodeRecordParts(largest).unreadable).toBeNull();
  });

  it.each([
    ['one record', encodeEventRecord(record('one', 5, [...ids, 'more']))],
    ['several records', mergeRecords([largest, encodeEventRecord(TWO)])],
    ['several records, one of them spoilt', mergeRecords([largest, BAD, encodeEventRecord(TWO)])],
    ['one event with a long text', encodeEventRecord(record('one', 5, ['x'.repeat(500_000)]))],
    [
      'some events with long texts',
      mergeRecords(
        ids.slice(0, 9).map((id) => encodeEventRecord(record(id, 5, [id.repeat(50_000)]))),
      ),
    ],
  ])('that is larger is spoilt as a whole, and can be read to be written again: %s', (_, value) => {
    const unreadable = { reason: 'record_too_large', text: value };
    expect(decodeRecordParts(value)).toEqual({ parts: [], unreadable });
    expect(readRecordParts(value).parts.length).toBeGreaterThan(0);
  });

  it.each([
    ['{', 'not_json'],
    ['', 'not_json'],
    [`${mergeRecords([BAD, BAD])}x`, 'not_json'],
    ['{"v":2,"parts":[{"v":2,"parts":[]}]}', 'unknown_version'],
    ['{"v":3,"parts":[]}', 'unknown_version'],
  ])('that cannot be read names the reason: %s', (value, reason) => {
    expect(decodeRecordParts(value)).toMatchObject({ parts: [], unreadable: { reason } });
  });
});
