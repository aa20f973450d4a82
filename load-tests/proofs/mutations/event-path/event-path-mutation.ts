import type { Mutation } from '../mutation.js';

/** A rule of the design that a copy of the build breaks, and the scenario that must notice. */
export type EventPathMutation = Mutation & {
  /** Beginning of the name of the scenario that must fail. */
  readonly scenario: string;
};
