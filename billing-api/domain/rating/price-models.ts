import type { BillingModel } from '../price/price-model.js';
import { FLAT_FEE } from './rate-flat-fee.js';
import { PACKAGE } from './rate-package.js';
import { TIERED } from './rate-tiers.js';
import type { RatedModel } from './rated-model.js';

/** How each billing model rates and shows a quantity; one without an entry does not compile. */
export const PRICE_MODELS: Readonly<Record<BillingModel, RatedModel>> = {
  FLAT_FEE,
  PACKAGE,
  TIERED,
};
