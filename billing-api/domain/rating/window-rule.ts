import { ZERO, type Decimal } from '../../../contract/decimal.js';
import { commitmentMoney } from './commitment-money.js';
import type { CommitmentTerms } from '../commitment/commitment.js';
import type { WindowRule } from './priced-window.js';
import type { BucketGroup } from '../usage/line-usage.js';
import type { Charger } from './create-charger.js';

/** What the groups of a window come to: package rounding and tiers start anew in each (8.5). */
export type WindowUsage = { readonly quantity: Decimal; readonly usageAmount: Decimal };

const NO_USAGE: WindowUsage = { quantity: ZERO, usageAmount: ZERO };

/** The rule of windows at a price, and of those in a time bucket. */
export function windowRule(
  price: WindowRule['price'],
  terms: CommitmentTerms | null,
  bucketId: string | null,
): WindowRule {
  if (terms === null) return { price, bucketId, committed: null };
  const { overageFactor, isTrueUpEnabled } = terms;
  const amount = commitmentMoney(terms, price);
  return { price, bucketId, committed: { amount, overageFactor, isTrueUpEnabled } };
}

/** All groups of a window together, each charged by itself. */
export function chargeGroups(groups: readonly BucketGroup[], charge: Charger): WindowUsage {
  const [first, ...others] = groups;
  if (first === undefined) return NO_USAGE;
  let quantity = first.usage;
  let usageAmount = charge(quantity);
  for (const { usage } of others) {
    quantity = quantity.plus(usage);
    usageAmount = usageAmount.plus(charge(usage));
  }
  return { quantity, usageAmount };
}
