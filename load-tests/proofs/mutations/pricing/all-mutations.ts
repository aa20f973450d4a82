import { ADJUSTMENT_MUTATIONS } from './adjustment-mutations.js';
import { LEDGER_MUTATIONS } from './ledger-mutations.js';
import type { PricingMutation } from './pricing-mutation.js';
import { PRICE_MUTATIONS } from './price-mutations.js';
import { USAGE_MUTATIONS } from './usage-mutations.js';

export const PRICING_MUTATIONS: readonly PricingMutation[] = [
  ...PRICE_MUTATIONS,
  ...USAGE_MUTATIONS,
  ...LEDGER_MUTATIONS,
  ...ADJUSTMENT_MUTATIONS,
];
