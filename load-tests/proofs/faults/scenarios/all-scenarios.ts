import { ACCEPTING } from './accepting.js';
import { AUDITING } from './auditing.js';
import { BATCHING } from './batching.js';
import { COUNTING } from './counting.js';
import { CRASHING } from './crashing.js';
import { LOSING_REPLIES } from './losing-replies.js';
import { OWNING } from './owning.js';
import type { Scenario } from './scenario.js';

/** All scenarios, in the order in which they are played. */
export const SCENARIOS: readonly Scenario[] = [
  ...ACCEPTING,
  ...COUNTING,
  ...BATCHING,
  ...CRASHING,
  ...OWNING,
  ...LOSING_REPLIES,
  ...AUDITING,
];
