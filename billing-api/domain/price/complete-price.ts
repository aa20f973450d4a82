import { Decimal, plain } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { BillingModel, PriceModel, PriceTerms, TransformQuantity } from './price.js';
import type { Figures } from './price-figures.js';
import { amountFrom, figuresFrom, transformFrom } from './price-figures.js';
import type { PriceContext, PriceRefusal, PriceRequest } from './price-request.js';
import { isPriceRefusal, refuse } from './price-request.js';
import { brokenPriceRule } from './price-rules.js';
import { unitFiguresFrom } from './price-unit.js';
import { propertyFiltersProblem } from './property-filters.js';

/**
 * Makes the complete price of a request: the defaults of domain.md 9.2 and the rules of 3.2. The
 * first broken rule comes back as a refusal. Three rules need the store and are the use case's:
 * the owner and the meter must exist, `lookup_key` must be free, and an owner has at most 5 000
 * live prices.
 */
export function completePrice(
  request: PriceRequest,
  context: PriceContext,
): PriceTerms | PriceRefusal {
  const currency = (request.currency ?? '').toLowerCase();
  if (!/^[a-z]{3}$/.test(currency)) {
    return refuse('currency_not_three_letters', 'currency', 'give a three-letter currency code');
  }
  const model = modelFrom(request, { ...context, currency });
  if (isPriceRefusal(model)) return model;
  const filterValues = filterValuesFrom(request);
  if (isPriceRefusal(filterValues)) return filterValues;
  const minQuantity = minQuantityFrom(request);
  if (minQuantity !== null && isPriceRefusal(minQuantity)) return minQuantity;
  const terms: PriceTerms = {
    ...model,
    ...cadencesFrom(request),
    ...datesFrom(request, context.nowMs),
    currency,
    entityType: context.owner.entityType,
    entityId: context.owner.entityId,
    meterId: request.meterId ?? null,
    filterValues,
    minQuantity,
  };
  return brokenPriceRule(terms) ?? terms;
}

type Cadences = Pick<
  PriceTerms,
  'type' | 'billingCadence' | 'billingPeriod' | 'billingPeriodCount' | 'invoiceCadence'
>;

function cadencesFrom(request: PriceRequest): Cadences {
  const type = request.type ?? (hasText(request.meterId) ? 'USAGE' : 'FIXED');
  return {
    type,
    ...periodFrom(request),
    billingPeriodCount: request.billingPeriodCount ?? 1,
    invoiceCadence: request.invoiceCadence ?? (type === 'USAGE' ? 'ARREAR' : 'ADVANCE'),
  };
}

/** ONETIME of one implies ONETIME of the other; what a request says of both is kept and checked. */
function periodFrom(request: PriceRequest): Pick<Cadences, 'billingCadence' | 'billingPeriod'> {
  const { billingCadence, billingPeriod } = request;
  const isOnetime = billingCadence === 'ONETIME' || billingPeriod === 'ONETIME';
  return {
    billingCadence: billingCadence ?? (isOnetime ? 'ONETIME' : 'RECURRING'),
    billingPeriod: billingPeriod ?? (isOnetime ? 'ONETIME' : 'MONTHLY'),
  };
}

function datesFrom(
  request: PriceRequest,
  nowMs: InstantMs,
): Pick<PriceTerms, 'startMs' | 'endMs' | 'trialPeriodDays'> {
  return {
    startMs: request.startMs ?? nowMs,
    endMs: request.endMs ?? null,
    trialPeriodDays: positiveOrNull(request.trialPeriodDays),
  };
}

function hasText(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && text !== '';
}

/** An explicit 0 counts as absent (domain.md 3.2). */
function positiveOrNull(value: number | null | undefined): number | null {
  return value === 0 ? null : (value ?? null);
}

/** The members that price a quantity; those of a CUSTOM price converted to fiat. */
function modelFrom(
  request: PriceRequest,
  context: PriceContext & { readonly currency: string },
): (PriceModel & Pick<PriceTerms, 'priceUnitFigures'>) | PriceRefusal {
  const custom = unitFiguresFrom(request, context);
  if (custom !== null && isPriceRefusal(custom)) return custom;
  const figures = custom === null ? fiatFiguresFrom(request) : custom.inFiat;
  if (isPriceRefusal(figures)) return figures;
  const transformQuantity = transformFrom(request);
  return {
    ...figures,
    billingModel: request.billingModel ?? impliedModel(figures, transformQuantity),
    tierMode: request.tierMode ?? 'VOLUME',
    transformQuantity,
    priceUnitFigures: custom?.figures ?? null,
  };
}

function impliedModel(figures: Figures, transform: TransformQuantity | null): BillingModel {
  if (figures.tiers !== null) return 'TIERED';
  return transform === null ? 'FLAT_FEE' : 'PACKAGE';
}

function fiatFiguresFrom({ amount, tiers }: PriceRequest): Figures | PriceRefusal {
  return figuresFrom({ amount, tiers, amountMember: 'amount', tiersMember: 'tiers' });
}

/** One text is a list of one (domain.md 9.3). */
function filterValuesFrom(request: PriceRequest): PriceTerms['filterValues'] | PriceRefusal {
  const lists = Object.fromEntries(
    Object.entries(request.filterValues ?? {}).map(
      ([key, value]) => [key, typeof value === 'string' ? [value] : value] as const,
    ),
  );
  const remedy = propertyFiltersProblem(lists);
  return remedy === null ? lists : refuse('filter_values_malformed', 'filter_values', remedy);
}

function minQuantityFrom(request: PriceRequest): Decimal | PriceRefusal | null {
  const number = positiveOrNull(request.minQuantity);
  if (number === null) return null;
  if (number < 0) {
    return refuse('min_quantity_negative', 'min_quantity', 'give a quantity of 0 or more');
  }
  return amountFrom(plain(new Decimal(number)), 'min_quantity');
}
