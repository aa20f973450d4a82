import type { InstantMs } from '../../../contract/instant.js';
import { cadenceFrom } from './price-cadence.js';
import { modelFrom, overriddenModel, type PriceOverrideBody } from './price-model.js';
import { quantityFrom } from './price-quantity.js';
import { isPriceRefusal, refuse, type PriceRefusal } from './price-refusal.js';
import { brokenPriceRule } from './price-rules.js';
import type { PriceUnitTerms } from './price-unit.js';
import type { PriceBody, PriceOwnerType, PriceTerms } from './price.js';

/** The record that has a price. */
export type PriceOwner = { readonly entityType: PriceOwnerType; readonly entityId: string };

/** What `completePrice` must be told besides the body. */
export type PriceContext = {
  readonly owner: PriceOwner;
  /** `start_date` of the request, or now. */
  readonly startMs: InstantMs;
  /** Whether the request has a `start_date`. */
  readonly isStartGiven: boolean;
  readonly endMs: InstantMs | null;
  /** The published price unit whose code the body names; null when there is none. */
  readonly priceUnit: PriceUnitTerms | null;
};

/** Members of FIXED prices, which a USAGE price takes without effect (docs/http.md 18). */
const NOT_OF_USAGE = { minQuantity: null, trialPeriodDays: null } as const;

/**
 * Makes the complete price of a request: the defaults of docs/domain.md 9.2 and the rules of 3.2.
 * The first broken rule comes back as a refusal. Three rules need the store and are checked by the
 * operation: the owner and the meter must exist, `lookup_key` must be free, and an owner has at
 * most 5,000 live prices.
 */
export function completePrice(body: PriceBody, context: PriceContext): PriceTerms | PriceRefusal {
  const { owner, startMs, isStartGiven, endMs, priceUnit } = context;
  const currency = body.currency.toLowerCase();
  if (!/^[a-z]{3}$/.test(currency)) {
    return refuse('currency_not_three_letters', 'currency', 'give a three-letter currency code');
  }
  const model = modelFrom(body, { currency, priceUnit });
  if (isPriceRefusal(model)) return model;
  const quantity = quantityFrom(body);
  if (isPriceRefusal(quantity)) return quantity;
  const cadence = cadenceFrom(body, quantity.meterId);
  const dates = { startMs, isStartGiven, endMs };
  const given = { ...model, ...cadence, ...quantity, ...owner, currency, ...dates };
  const terms = given.type === 'USAGE' ? { ...given, ...NOT_OF_USAGE } : given;
  return brokenPriceRule(terms) ?? terms;
}

/**
 * The price that a subscription has in place of another one (docs/domain.md 9.5): the same, but for
 * its owner and the members that the override gives.
 */
export function overridePrice(
  base: PriceTerms,
  override: PriceOverrideBody,
  owner: PriceOwner,
): PriceTerms | PriceRefusal {
  const model = overriddenModel(base, override);
  if (isPriceRefusal(model)) return model;
  const terms = { ...base, ...owner, ...model };
  return brokenPriceRule(terms) ?? terms;
}
