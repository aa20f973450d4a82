import { describe, expect, it } from 'vitest';
import { createUlid } from './ulid.js';

describe('the ids that a process makes', () => {
  it('sort by their making, also within a millisecond', () => {
    const ids = Array.from({ length: 10_000 }, createUlid);
    expect(new Set(ids).size).toBe(10_000);
    expect(ids).toEqual([...ids].sort());
    expect(ids[0]).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  });
});
