import type { Decimal } from '../../../contract/number/decimal.js';
import type { RatedCharge } from './pricing-trace.js';
import { present, type RatedModel } from './rated-model.js';
import { singleStep } from './single-step.js';

/** docs/domain.md 8.1: charge = amount × quantity. The quantity is greater than 0. */
export function rateFlatFee(amount: Decimal, quantity: Decimal): RatedCharge {
  const step = singleStep(quantity, amount);
  return {
    amount: step.amount,
    trace: { billingModel: 'FLAT_FEE', tierMode: null, steps: [step], packages: null },
  };
}

/** One amount for each unit. */
export const FLAT_FEE: RatedModel = {
  rate: ({ amount }, quantity) => rateFlatFee(present(amount, 'amount'), quantity),
  nothing: () => ({ tierMode: null, packages: null }),
  charger: () => null,
  isLinear: true,
  hasStepRows: false,
};
