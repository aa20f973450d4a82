import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UsageEvent } from '../../contract/usage-event.js';
import type { EventOutcome } from './accept-event.js';
import { acceptSingle } from './accept-request.js';
import { readJson } from './read-json.js';

const RECEIVED_AT_MS = Date.UTC(2026, 10, 20, 12);
const CONTEXT = {
  receivedAtMs: RECEIVED_AT_MS,
  eventIdAt: (position: number): string => `event_made_${position}`,
};

function evaluate(source: string): EventOutcome {
  const document = readJson(source);
  if ('problem' in document) throw new Error(document.problem);
  return acceptSingle(document, CONTEXT);
}

/** The smallest event, with members replaced or added; `undefined` leaves one out. */
function eventWith(members: Record<string, unknown>): string {
  return JSON.stringify({ event_name: 'call', external_customer_id: 'acme', ...members });
}

function accepted(source: string): UsageEvent {
  const outcome = evaluate(source);
  if (outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome));
  return outcome.event;
}

function invalidMember(source: string): string {
  const outcome = evaluate(source);
  if (outcome.kind !== 'rejected') throw new Error(`accepted: ${source.slice(0, 100)}`);
  expect(outcome.problem.problem).not.toBe('');
  return outcome.problem.member;
}

describe('an accepted event', () => {
  test('carries every member that was sent', () => {
    const source = `{"event_name":"  call  ","event_id":"e1","external_customer_id":"acme",
      "customer_id":"cust_1","source":"gateway","timestamp":"2026-01-31T23:30:00.1239+01:00",
      "properties":{"region":"eu","size":1.50,"cached":false}}`;
    expect(accepted(source)).toEqual({
      eventId: 'e1',
      eventName: 'call',
      externalCustomerId: 'acme',
      customerId: 'cust_1',
      source: 'gateway',
      timestampMs: Date.UTC(2026, 0, 31, 22, 30, 0, 123),
      isTimestampGiven: true,
      properties: { region: 'eu', size: '1.50', cached: 'false' },
    });
  });

  test('gets an id, the time of receipt and an empty source when it has none', () => {
    const least = {
      eventId: 'event_made_0',
      source: '',
      timestampMs: RECEIVED_AT_MS,
      isTimestampGiven: false,
      properties: {},
    };
    expect(accepted(eventWith({}))).toMatchObject(least);
    const nulls = { event_id: null, source: null, timestamp: null, properties: null };
    expect(accepted(eventWith(nulls))).toMatchObject(least);
  });

  test('needs one customer reference, and an empty one counts as absent', () => {
    const internalOnly = eventWith({ external_customer_id: '', customer_id: 'cust_1' });
    expect(accepted(internalOnly)).toMatchObject({
      externalCustomerId: null,
      customerId: 'cust_1',
    });
    expect(accepted(eventWith({ customer_id: '' }))).toMatchObject({ customerId: null });
    expect(accepted(eventWith({ customer_id: ' \t' }))).toMatchObject({ customerId: null });
    const none = eventWith({ external_customer_id: '', customer_id: null });
    expect(invalidMember(none)).toBe('external_customer_id');
  });

  test('keeps ids apart that differ only in case, blanks or accents', () => {
    const ids = ['a', 'A', ' a', 'á', 'a\u0301', 'a|b', 'a\tb', '\u0085'];
    const kept = ids.map((id) => accepted(eventWith({ event_id: id })).eventId);
    expect(kept).toEqual(ids);
  });

  test('keeps properties with the names of built-in members of an object', () => {
    const source =
      '{"event_name":"n","customer_id":"c","properties":{"__proto__":1.50,"constructor":"x","toString":true}}';
    const { properties } = accepted(source);
    expect(Object.entries(properties)).toEqual([
      ['__proto__', '1.50'],
      ['constructor', 'x'],
      ['toString', 'true'],
    ]);
    expect(JSON.stringify(properties)).toBe(
      '{"__proto__":"1.50","constructor":"x","toString":"true"}',
    );
  });

  test('may have a string id that looks like a number, beside properties that are numbers', () => {
    const source =
      '{"event_name":"n","customer_id":"007","event_id":"1.50","properties":{"v":1.50}}';
    expect(accepted(source)).toMatchObject({
      eventId: '1.50',
      customerId: '007',
      properties: { v: '1.50' },
    });
  });

  test('has the last value of a member that stands twice', () => {
    const source =
      '{"event_name":"a","event_name":"b","customer_id":"c","properties":{"k":1.50,"k":2.0}}';
    expect(accepted(source)).toMatchObject({ eventName: 'b', properties: { k: '2.0' } });
  });

  test.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2199-12-31T23:59:59.999Z', Date.UTC(2200, 0, 1) - 1],
    ['2200-01-01T00:59:59+01:00', Date.UTC(2200, 0, 1) - 1000],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
  ])('may have the timestamp %s', (timestamp, expected) => {
    expect(accepted(eventWith({ timestamp })).timestampMs).toBe(expected);
  });

  test('keeps the JSON text of every scalar property', () => {
    const scalar = fc.oneof(
      fc.string({ unit: 'grapheme' }).map((text) => ({ source: JSON.stringify(text), text })),
      fc.boolean().map((flag) => ({ source: String(flag), text: String(flag) })),
      fc.constantFrom('1.50', '-0', '1e400', '7', '0.10', '9'.repeat(400)).map((number) => ({
        source: number,
        text: number,
      })),
    );
    const key = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(key, scalar), { selector: ([name]) => name }),
        (pairs) => {
          fc.pre(pairs.every(([name, { text }]) => !`${name}${text}`.includes('\0')));
          const members = pairs.map(([name, { source }]) => `${JSON.stringify(name)}:${source}`);
          const source = `{"event_name":"n","customer_id":"c","properties":{${members.join(',')}}}`;
          const texts = new Map(pairs.map(([name, { text }]) => [name, text]));
          expect(new Map(Object.entries(accepted(source).properties))).toEqual(texts);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('an invalid event is rejected', () => {
  test.each([
    ['event', 'null'],
    ['event', '[]'],
    ['event', '"text"'],
    ['event_name', eventWith({ event_name: undefined })],
    ['event_name', eventWith({ event_name: ' \t ' })],
    ['event_name', eventWith({ event_name: 7 })],
    ['event_id', eventWith({ event_id: '' })],
    ['event_id', eventWith({ event_id: 5 })],
    ['event_id', '{"event_name":"n","customer_id":"c","event_id":1.50}'],
    ['event_name', '{"event_name":-0,"customer_id":"c"}'],
    ['customer_id', '{"event_name":"n","customer_id":1e400}'],
    ['timestamp', '{"event_name":"n","customer_id":"c","timestamp":1.50}'],
    ['properties', '{"event_name":"n","customer_id":"c","properties":1.50}'],
    ['event', '1.50'],
    ['external_customer_id', eventWith({ external_customer_id: undefined })],
    ['external_customer_id', eventWith({ external_customer_id: 12 })],
    ['customer_id', eventWith({ customer_id: {} })],
    ['source', eventWith({ source: true })],
    ['timestamp', eventWith({ timestamp: '2026-02-29T00:00:00Z' })],
    ['timestamp', eventWith({ timestamp: '2026-01-01T24:00:00Z' })],
    ['timestamp', eventWith({ timestamp: '2026-01-01T00:00:00' })],
    ['timestamp', eventWith({ timestamp: '2026-01-01' })],
    ['timestamp', eventWith({ timestamp: 1700000000 })],
    ['timestamp', eventWith({ timestamp: '' })],
    ['timestamp', eventWith({ timestamp: '1969-12-31T23:59:59.999Z' })],
    ['timestamp', eventWith({ timestamp: '1970-01-01T00:00:00+00:01' })],
    ['timestamp', eventWith({ timestamp: '2200-01-01T00:00:00Z' })],
    ['properties', eventWith({ properties: [] })],
    ['properties', eventWith({ properties: 'x' })],
    ['properties.a', eventWith({ properties: { a: null } })],
    ['properties.b', eventWith({ properties: { a: 1, b: {} } })],
    ['properties.a', eventWith({ properties: { a: [1] } })],
    ['value', eventWith({ value: 1, other: 2 })],
    ['constructor', '{"constructor":1,"event_name":"n","customer_id":"c"}'],
    ['__proto__', '{"__proto__":{"event_name":"n"},"event_name":"n","customer_id":"c"}'],
    ['event_id', '{"event_name":"n","customer_id":"c","event_id":"a\\u0000"}'],
    ['event_id', '{"event_name":"n","customer_id":"c","event_id":"a\\ud800"}'],
    ['event_id', '{"event_name":"n","customer_id":"c","event_id":"\\udc00\\ud800"}'],
    ['properties.k', '{"event_name":"n","customer_id":"c","properties":{"k":"\\udfff"}}'],
    ['properties.\0', '{"event_name":"n","customer_id":"c","properties":{"\\u0000":1}}'],
  ])('naming the member %s: %s', (member, source) => {
    expect(invalidMember(source)).toBe(member);
  });

  test('with its id, when the id is valid', () => {
    expect(evaluate(eventWith({ event_id: 'e1', event_name: '' }))).toMatchObject({
      eventId: 'e1',
    });
    expect(evaluate(eventWith({ event_id: 'x'.repeat(256) }))).toMatchObject({ eventId: null });
  });
});

describe('the limits of an event', () => {
  test.each(['event_name', 'event_id', 'external_customer_id', 'customer_id', 'source'])(
    '%s may have 255 characters, not 256',
    (member) => {
      for (const character of ['x', 'é', '😀']) {
        accepted(eventWith({ [member]: character.repeat(255) }));
        expect(invalidMember(eventWith({ [member]: character.repeat(256) }))).toBe(member);
      }
    },
  );

  test('blanks around the name do not count towards its 255 characters', () => {
    const event_name = `   ${'x'.repeat(255)}   `;
    expect(accepted(eventWith({ event_name })).eventName).toBe('x'.repeat(255));
  });

  test('properties may have 250 keys, not 251', () => {
    const keys = (count: number): Record<string, number> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
    expect(Object.keys(accepted(eventWith({ properties: keys(250) })).properties)).toHaveLength(
      250,
    );
    expect(invalidMember(eventWith({ properties: keys(251) }))).toBe('properties');
  });

  const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

  test.each(['x', 'é', '😀', '"', '\u0001'])(
    'an event may have 65536 bytes of JSON and no more, with texts of %j',
    (character) => {
      const empty = bytesOf(eventWith({ properties: { n: 1.5, flag: true, text: '' } }));
      const unit = bytesOf(JSON.stringify(character)) - 2;
      const units = Math.floor((65_536 - empty) / unit);
      const rest = 'x'.repeat(65_536 - empty - units * unit);
      const eventOf = (text: string): string =>
        eventWith({ properties: { n: 1.5, flag: true, text } });
      const largest = eventOf(character.repeat(units) + rest);
      expect(bytesOf(largest)).toBe(65_536);
      accepted(largest);
      expect(invalidMember(eventOf(`${character.repeat(units)}${rest}x`))).toBe('event');
    },
  );

  test('blanks between members do not count towards the size, the digits of a number do', () => {
    const padded = eventWith({ properties: { n: 1 } }).replaceAll(',', `,${' '.repeat(70_000)}`);
    expect(accepted(padded).properties).toEqual({ n: '1' });
    const digits = '1'.repeat(70_000);
    expect(invalidMember(eventWith({ properties: { n: 0 } }).replace(':0', `:${digits}`))).toBe(
      'event',
    );
    expect(invalidMember(eventWith({ event_name: `n${' '.repeat(70_000)}` }))).toBe('event');
  });
});
