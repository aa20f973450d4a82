import { ONE, ZERO } from '../../../contract/number/decimal.js';
import type { Decimal } from '../../../contract/number/decimal.js';
import type { TransformQuantity } from '../price/price-model.js';
import type { RatedCharge } from './pricing-trace.js';
import { present, type RatedModel } from './rated-model.js';
import { singleStep } from './single-step.js';

/**
 * Whole packages in a quantity. Division with remainder instead of a quotient that is rounded: a
 * quotient cut at the last digit could push an exact multiple into the next package.
 */
function packagesIn(quantity: Decimal, transform: TransformQuantity): Decimal {
  const full = quantity.divToInt(transform.divideBy);
  const hasRest = quantity.greaterThan(full.times(transform.divideBy));
  return hasRest && transform.round === 'up' ? full.plus(ONE) : full;
}

/**
 * docs/domain.md 8.2: charge = packages × amount, packages = quantity ÷ divide_by rounded up or
 * down to a whole number. The quantity is greater than 0 and is not rounded before.
 */
export function ratePackage(
  amount: Decimal,
  transform: TransformQuantity,
  quantity: Decimal,
): RatedCharge {
  const packages = packagesIn(quantity, transform);
  const step = singleStep(packages, amount);
  return {
    amount: step.amount,
    trace: {
      billingModel: 'PACKAGE',
      tierMode: null,
      steps: packages.isZero() ? [] : [step],
      packages,
    },
  };
}

/** One amount for each package of units. */
export const PACKAGE: RatedModel = {
  rate: ({ amount, transformQuantity: transform }, quantity) =>
    ratePackage(present(amount, 'amount'), present(transform, 'transform_quantity'), quantity),
  nothing: () => ({ tierMode: null, packages: ZERO }),
  charger: () => null,
  isLinear: false,
  hasStepRows: false,
};
