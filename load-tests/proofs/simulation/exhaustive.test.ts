import { describe, expect, it } from 'vitest';
import { explore } from './exhaustive.js';
import { createScenario } from './scenario.js';
import { SMALL_WORLDS } from './small-worlds.js';

const STATES_MAX = 400_000;
const TIMEOUT_MS = 300_000;

describe('every order of events of a small world', () => {
  it.each(SMALL_WORLDS)(
    'counts every id once: $name',
    ({ plan }) => {
      const { failure, isComplete, finished } = explore(createScenario(plan), STATES_MAX);
      expect(failure).toBeNull();
      expect(isComplete).toBe(true);
      expect(finished).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});
