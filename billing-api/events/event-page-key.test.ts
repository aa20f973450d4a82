import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_TIMESTAMP_END_MS } from '../../contract/usage-event.js';
import { formatEventPageKey, readEventPageKey } from './event-page-key.js';

describe('the key of a page of events', () => {
  it('is unix nanoseconds, two colons and the id', () => {
    const key = { timestampMs: Date.UTC(2026, 0, 1), eventId: 'a::b' };
    expect(formatEventPageKey(key)).toBe('1767225600000000000::a::b');
  });

  it('names the event it was made of, whatever its time and id', () => {
    const time = fc.integer({ min: 0, max: EVENT_TIMESTAMP_END_MS - 1 });
    fc.assert(
      fc.property(time, fc.string({ minLength: 1 }), (timestampMs, eventId) => {
        const key = { timestampMs, eventId };
        expect(readEventPageKey(formatEventPageKey(key))).toEqual(key);
      }),
    );
  });

  it('is refused when no answer can have held it', () => {
    const texts = ['', 'x', '1::a', '1767225600000000000', '1767225600000000000::', '::a'];
    const odd = ['-1000000::a', '1767225600000000001::a', '01000000::a', ' 1000000::a'];
    const long = [`${'9'.repeat(30)}000000::a`];
    for (const text of [...texts, ...odd, ...long]) expect(readEventPageKey(text)).toBeNull();
  });
});
