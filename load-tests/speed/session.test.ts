import { describe, expect, it } from 'vitest';
import { pauseBeforeNextLook } from './session.js';

describe('the pause before the next look', () => {
  it('is half of what the missing events will take at the rate so far', () => {
    const pause = pauseBeforeNextLook(
      { atMs: 1_000, visible: 10_000 },
      { atMs: 2_000, visible: 40_000 },
      12_000,
    );
    expect(pause).toBe(200);
  });

  it('is short where no rate is known, and bounded', () => {
    const look = { atMs: 1_000, visible: 10_000 };
    expect(pauseBeforeNextLook(look, look, 50_000)).toBe(20);
    expect(pauseBeforeNextLook(look, { atMs: 2_000, visible: 10_000 }, 50_000)).toBe(20);
    expect(pauseBeforeNextLook(look, { atMs: 2_000, visible: 10_001 }, 50_000)).toBe(500);
    expect(pauseBeforeNextLook(look, { atMs: 2_000, visible: 60_000 }, 1)).toBe(20);
  });
});
