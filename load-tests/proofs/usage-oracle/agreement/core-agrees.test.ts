import { expect, test } from 'vitest';
import { drawSeed } from '../../../harness/draw-seed.js';
import { findingsOfCore } from './core-agreement.js';

const CASES = 40;
const TIMEOUT_MS = 60_000;

test.each([1, drawSeed()])(
  'the core and the oracle aggregate the events of 40 random cases from seed %i on alike',
  (firstSeed) => {
    const seeds = Array.from({ length: CASES }, (_, index) => firstSeed + index);
    expect(seeds.flatMap((seed) => findingsOfCore(seed).map(({ text }) => text))).toEqual([]);
  },
  TIMEOUT_MS,
);
