import { describe, expect, it } from 'vitest';
import { eventKey, murmur2, partitionOf } from './event-key.js';

const utf8 = new TextEncoder();

describe('murmur2', () => {
  // Values of Kafka's own test of its Utils.murmur2.
  it.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])('of %s is what the Java client computes', (text, expected) => {
    expect(murmur2(utf8.encode(text))).toBe(expected);
  });
});

describe('partitionOf', () => {
  it.each(['', 'abc', 'é😀', '\ud800', 'x'.repeat(5_000), 'é'.repeat(1_365), 'é'.repeat(1_366)])(
    'is taken from the UTF-8 of the key: %.20s',
    (key) => {
      const expected = (murmur2(utf8.encode(key)) & 0x7fffffff) % 1024;
      expect(partitionOf(key, 1024)).toBe(expected);
    },
  );

  it('spreads ids evenly and always to the same partition', () => {
    const environment = { tenantId: 't', environmentId: 'e' };
    const counts = [0, 0, 0, 0];
    for (let index = 0; index < 8_000; index += 1) {
      const key = eventKey(environment, `id-${index}`);
      const partition = partitionOf(key, 4);
      expect(partitionOf(key, 4)).toBe(partition);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(1_800);
  });
});
