import type { Mutation } from '../mutation.js';

/** A rule of the pricing core broken on purpose, in a copy of its sources. */
export type PricingMutation = Mutation & {
  /** The section of the domain rules that is broken. */
  readonly rule: string;
  /** The file of the core that is edited, below its folder. */
  readonly file: string;
};

/** A mutation of one file of the core. */
export function mutation(
  [name, rule]: readonly [name: string, rule: string],
  file: string,
  ...edits: readonly (readonly [from: string, to: string])[]
): PricingMutation {
  const path = `billing-api/domain/${file}`;
  return { name, rule, file, edits: edits.map(([from, to]) => ({ path, from, to })) };
}
