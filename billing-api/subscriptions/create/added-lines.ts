import { plain, type Decimal } from '../../../contract/decimal.js';
import { isLive, matchingPrices } from '../../domain/price/matching-prices.js';
import type { PriceTerms } from '../../domain/price/price.js';
import {
  currencyRefusal,
  inlinePrice,
  namedPrice,
  NO_COMMITMENT,
  termsOfDraft,
  type DraftContext,
  type DraftPrice,
  type LineDraft,
} from '../lines/line-draft.js';
import type { MemberReader } from '../../records/member-rules.js';
import {
  priceCommandFrom,
  type InlinePriceRequest,
  type Metadata,
  type PriceCommand,
} from '../../catalog/prices/price-command.js';
import { invalid, isRefusal, nestedRefusal, type Refusal } from '../../records/refusal.js';

/** One element of `line_items` (api.md 5.1) as it came. */
export type AddedLineRequest = {
  readonly price_id?: string | undefined;
  readonly price?: InlinePriceRequest | undefined;
  readonly quantity?: string | undefined;
  readonly display_name?: string | undefined;
  readonly metadata?: Metadata | undefined;
};

/** A line that the subscription has beside those of its plan. */
export type AddedLine = {
  /** Where it stands in the request. */
  readonly place: string;
  readonly price: { readonly id: string } | PriceCommand;
  /** Null and 0 mean the price's own default. */
  readonly quantity: Decimal | null;
  readonly displayName: string | null;
  readonly metadata: Metadata;
};

function readPrice(
  reader: MemberReader,
  place: string,
  { price_id: id, price }: AddedLineRequest,
): AddedLine['price'] {
  if ((id === undefined) === (price === undefined)) {
    reader.note(`${place}.price_id`, 'or price is required, and not both');
  }
  if (price === undefined) return { id: id ?? '' };
  const command = priceCommandFrom(price);
  if (!isRefusal(command)) return command;
  for (const [member, problem] of Object.entries(command.details ?? {})) {
    reader.note(`${place}.price.${member}`, problem);
  }
  return { id: '' };
}

export function readAddedLines(
  reader: MemberReader,
  requests: readonly AddedLineRequest[] | undefined,
): readonly AddedLine[] {
  return (requests ?? []).map((request, index) => {
    const place = `line_items.${index}`;
    const quantity = reader.decimal(`${place}.quantity`, request.quantity);
    if (quantity?.lessThan(0) === true) reader.note(`${place}.quantity`, 'is less than 0');
    return {
      place,
      price: readPrice(reader, place, request),
      quantity,
      displayName: request.display_name ?? null,
      metadata: reader.metadata(request.metadata, `${place}.metadata`),
    };
  });
}

/** Why a price does not attach to the subscription (domain.md 9.4); null for one that does. */
function attachRefusal(terms: PriceTerms, context: DraftContext): Refusal | null {
  const price = { ...terms, id: '', status: 'published' } as const;
  if (matchingPrices([price], context, context.now).length > 0) return null;
  const wrongCurrency = currencyRefusal(terms, context);
  if (wrongCurrency !== null) return wrongCurrency;
  if (!isLive(price, context.now)) return invalid({ end_date: 'has passed' });
  const period = `${context.billingPeriod} × ${context.billingPeriodCount}`;
  return invalid({ billing_period: `is no whole multiple of the subscription's ${period}` });
}

function inlinePriceOf(
  command: PriceCommand,
  place: string,
  context: DraftContext,
): DraftPrice | Refusal {
  const price = inlinePrice(command, context, {});
  const refusal = isRefusal(price) ? price : attachRefusal(termsOfDraft(price), context);
  return refusal === null ? price : nestedRefusal(refusal, `${place}.price`);
}

function namedPriceOf(id: string, place: string, context: DraftContext): DraftPrice | Refusal {
  const price = namedPrice(id, context);
  if (isRefusal(price)) return nestedRefusal(price, place);
  if (attachRefusal(termsOfDraft(price), context) === null) return price;
  const { currency, billingPeriod, billingPeriodCount } = context;
  const wanted = `${currency}, ${billingPeriod} × ${billingPeriodCount}`;
  return invalid({ [`${place}.price_id`]: `is no live price for ${wanted}` });
}

function draftOf(line: AddedLine, context: DraftContext): LineDraft | Refusal {
  const { place, quantity } = line;
  const price =
    'id' in line.price
      ? namedPriceOf(line.price.id, place, context)
      : inlinePriceOf(line.price, place, context);
  if (isRefusal(price)) return price;
  const isGiven = quantity !== null && !quantity.isZero();
  if (isGiven && termsOfDraft(price).type === 'USAGE') {
    return invalid({ [`${place}.quantity`]: 'usage lines have no quantity of their own' });
  }
  return {
    entityType: 'subscription',
    priceId: 'id' in line.price ? line.price.id : null,
    price,
    quantity: isGiven ? plain(quantity) : null,
    displayName: line.displayName,
    metadata: line.metadata,
    commitment: NO_COMMITMENT,
    timeBuckets: [],
  };
}

/** The lines of a request that no plan brings, in its order. */
export function draftAddedLines(
  lines: readonly AddedLine[],
  context: DraftContext,
): readonly LineDraft[] | Refusal {
  const drafts: LineDraft[] = [];
  for (const line of lines) {
    const draft = draftOf(line, context);
    if (isRefusal(draft)) return draft;
    drafts.push(draft);
  }
  return drafts;
}
