import { ACCEPTING } from './accepting.js';
import { AUDITING } from './auditing.js';
import { BATCHING } from './batching.js';
import { COUNTING } from './counting.js';
import { CRASHING } from './crashing.js';
import { LOSING_REPLIES } from './losing-replies.js';
import { OWNING } from './owning.js';
import type { Scenario } from './scenario.js';

/** Every story with a name, in the order in which they are told. */
export const SCENARIOS: readonly Scenario[] = [
  ...ACCEPTING,
  ...COUNTING,
  ...BATCHING,
  ...CRASHING,
  ...OWNING,
  ...LOSING_REPLIES,
  ...AUDITING,
];
