import type { Mutation } from '../mutation.js';

/** A rule of the design left out in a copy of the real build, and the scenario that must notice. */
export type EventPathMutation = Mutation & {
  /** Beginning of the name of the scenario that must fail. */
  readonly scenario: string;
};
