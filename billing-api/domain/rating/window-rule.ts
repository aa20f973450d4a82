import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { commitmentMoney } from './commitment-money.js';
import type { CommitmentTerms } from '../commitment/commitment.js';
import type { WindowRule } from './priced-window.js';
import type { BucketGroup } from '../usage/line-usage.js';
import type { Charger } from './rated-model.js';

/**
 * The sums over the groups of a window; packages and tiers start anew in each group (docs/domain.md
 * 8.5).
 */
export type WindowUsage = { readonly quantity: Decimal; readonly usageAmount: Decimal };

const NO_USAGE: WindowUsage = { quantity: ZERO, usageAmount: ZERO };

/** The rule of the windows of a line, or of those in one of its time buckets. */
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

/** Charges every group of a window by itself and adds them up. */
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
