import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../contract/instant.js';
import { removalShare, type PartitionLook } from './removal-share.js';

const WEEK = { afterMs: 168 * HOUR_MS, isByBytes: false };
const look = (members: Partial<PartitionLook>): PartitionLook => ({
  atMs: 1_000 * HOUR_MS,
  startOffset: 0,
  endOffset: 100,
  nextOffset: 40,
  lastAppendedMs: 1_000 * HOUR_MS - 42 * HOUR_MS,
  ...members,
});

describe('removalShare', () => {
  it('is the age of what waits, as a share of the time that the log keeps it', () => {
    expect(removalShare(look({}), look({}), WEEK)).toBe(0.25);
    expect(removalShare(look({}), look({ atMs: 1_126 * HOUR_MS }), WEEK)).toBe(1);
  });

  it('is 0 while nothing waits, or nothing did at the look before', () => {
    const idle = look({ nextOffset: 100 });
    expect(removalShare(idle, look({}), WEEK)).toBe(0);
    expect(removalShare(look({}), idle, WEEK)).toBe(0);
    expect(removalShare(null, look({}), WEEK)).toBe(0);
  });

  it('counts from the first look where no batch was ever counted', () => {
    const never = look({ nextOffset: 0, lastAppendedMs: null });
    const later = { ...never, atMs: never.atMs + 84 * HOUR_MS };
    expect(removalShare(never, later, WEEK)).toBe(0.5);
  });

  it('is the share of the room where the log is bounded by bytes and removes already', () => {
    const byBytes = { afterMs: null, isByBytes: true };
    expect(removalShare(look({}), look({}), byBytes)).toBe(0);
    expect(removalShare(look({}), look({ startOffset: 20 }), byBytes)).toBe(0.75);
    expect(removalShare(look({}), look({ startOffset: 40 }), byBytes)).toBe(1);
  });

  it('is 0 for a log that removes nothing by itself', () => {
    const never = { afterMs: null, isByBytes: false };
    expect(removalShare(look({}), look({ startOffset: 30 }), never)).toBe(0);
  });
});
