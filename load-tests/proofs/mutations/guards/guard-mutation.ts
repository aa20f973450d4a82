import type { Edit, Mutation } from '../mutation.js';

/** A guard of docs/internals/architecture.md 3.4 left out, in a copy of the sources. */
export type GuardMutation = Mutation & {
  /** The file of tests that must notice. */
  readonly test: string;
};

/** A mutation of some files, whose paths stand beside the texts. */
export function guardMutation(
  name: string,
  test: string,
  ...edits: readonly (readonly [path: string, from: string, to: string])[]
): GuardMutation {
  return { name, test, edits: edits.map(([path, from, to]): Edit => ({ path, from, to })) };
}
