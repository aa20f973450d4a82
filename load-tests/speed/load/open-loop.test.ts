import { describe, expect, it } from 'vitest';
import { assertOffered } from './open-loop.js';

describe('a stretch at a fixed rate', () => {
  it('has figures when at most one request in a hundred was not sent in time', () => {
    expect(() => assertOffered({ planned: 1_000, sentInTime: 990 }, 10)).not.toThrow();
  });

  it('has no figure, and says so, when more were not sent', () => {
    const offered = { planned: 1_000, sentInTime: 989 };
    expect(() => assertOffered(offered, 10)).toThrow(
      '100 requests a second were planned and 99 sent: no figure',
    );
  });
});
