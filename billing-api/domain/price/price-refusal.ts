/** A broken rule of docs/domain.md 3.2 (Price, Tiers, price_unit_config). */
export type PriceRefusal = {
  /** Name of the rule, such as `tiers_not_ascending`. */
  readonly reason: string;
  /** The member to look at, in wire spelling: `tiers.2.unit_amount`. */
  readonly member: string;
  /** What would make the request good. */
  readonly remedy: string;
};

/** Makes a refusal. */
export function refuse(reason: string, member: string, remedy: string): PriceRefusal {
  return { reason, member, remedy };
}

/**
 * Tells a refusal from what was asked for. The type of `reason` counts: `filter_values` may well
 * have a key of that name, with a list.
 */
export function isPriceRefusal(value: object): value is PriceRefusal {
  return 'reason' in value && typeof value.reason === 'string';
}
