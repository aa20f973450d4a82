import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { EventLookupDto } from '../../billing-api/reading/events/event-lookup-dto.js';
import { eventLine, lookupLines } from './event-lines.js';
import { sampleEvent } from './testing/samples.js';

const plainLine = (event: Parameters<typeof eventLine>[0]): string =>
  stripVTControlCharacters(eventLine(event));

function looked(differing: Partial<EventLookupDto>): readonly string[] {
  const answer: EventLookupDto = {
    event: sampleEvent({ source: 'docs' }),
    status: 'counted',
    reason: null,
    conflicts: 0,
    duplicates: 0,
    minute: '2026-01-01T12:00:00.000Z',
    log: { log_id: 'log_1', partition: 2, offset: 17, index: 0 },
    meters: [],
    lines: [],
    corrections: [],
    ...differing,
  };
  return lookupLines(answer).map((line) => stripVTControlCharacters(line).trimEnd());
}

describe('an event in one line', () => {
  test('has what the sender said', () => {
    const event = sampleEvent({ source: 'eu-1', properties: { region: 'eu', bytes: '12.50' } });
    expect(plainLine(event)).toBe(
      '2026-01-01T12:00:00.000Z  call-1  api_call  acme  from eu-1  region=eu bytes=12.50',
    );
  });

  test('names the customer by our id when it was sent so, and leaves out what is empty', () => {
    const event = sampleEvent({ external_customer_id: null, customer_id: 'cust_1' });
    expect(plainLine(event)).toBe('2026-01-01T12:00:00.000Z  call-1  api_call  cust_1');
  });

  test('cannot steer the terminal', () => {
    const event = sampleEvent({ id: 'a\u001b]0;title\u0007\nb', properties: { x: '\u009b2J' } });
    expect(eventLine(event)).toContain('a\\u001b]0;title\\u0007\\u000ab');
    expect(eventLine(event)).toContain('x=\\u009b2J');
  });
});

describe('what became of an event', () => {
  test('names meters and lines of what is counted', () => {
    const meter = { meter_id: 'meter_1', meter_version: 1, feature_id: null, value: '1' };
    const line = { subscription_id: 'subs_1', subscription_line_item_id: 'line_1' };
    const place = { price_id: 'price_1', invoice_id: null, invoice_line_item_id: null };
    expect(
      looked({
        duplicates: 2,
        conflicts: 1,
        meters: [{ ...meter, is_unreadable: false, is_applied: true }],
        lines: [{ ...line, ...place, window_start: '2026-01-01T00:00:00.000Z' }],
      }),
    ).toEqual([
      'Event call-1 is counted',
      '',
      '  customer    acme',
      '  name        api_call',
      '  timestamp   2026-01-01T12:00:00.000Z',
      '  received    2026-01-01T12:00:01.000Z',
      '  source      docs',
      '  sent again  2 times, 1 of them with different content; that counts nothing',
      '  in the log  partition 2, offset 17, event 0',
      '',
      'counted on meter  version  value',
      '────────────────────────────────',
      'meter_1                 1      1',
      '',
      'subscription  line item    price              window start',
      '──────────────────────────────────────────────────────────',
      'subs_1           line_1  price_1  2026-01-01T00:00:00.000Z',
    ]);
  });

  test.each([
    ['pending', null, 'Event call-1 is pending'],
    ['unmatched', 'unknown_customer', 'Event call-1 is unmatched: there is no such customer yet'],
    [
      'unmatched',
      'no_matching_meter',
      'Event call-1 is unmatched: meters count events of this name, but their filters leave this one out',
    ],
  ] as const)('says %s, and why: %s', (status, reason, expected) => {
    expect(looked({ status, reason })[0]).toBe(expected);
  });
});
