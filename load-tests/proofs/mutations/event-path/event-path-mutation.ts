import type { LogKind } from '../../faults/engines/fault-engines.js';
import type { Mutation } from '../mutation.js';

/** A rule of the design left out in a copy of the real build, and the scenario that must notice. */
export type EventPathMutation = Mutation & {
  /** Beginning of the name of the scenario that must fail. */
  readonly scenario: string;
  /** Whether the long form of the scenario is played, where the short one does not show it. */
  readonly isLong?: true;
  /** The log on which the scenario shows it; either one when absent. */
  readonly onlyOn?: LogKind;
};
