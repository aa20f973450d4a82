import type { CreditGrantOfSubscriptionBody } from '../../declarations/credit-grants/credit-grant.resource.js';
import {
  readGrantsOfSubscription,
  type GrantOfNewSubscription,
} from '../../credit-grants/credit-grant-rules.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { MemberReader } from '../../records/member-rules.js';
import { readTaxOverrides, type TaxOverride } from '../../taxes/tax-overrides.js';
import type { TaxRateOverrideBody } from '../../declarations/taxes/tax-override-body.js';

/** Id of the price of a line → codes of coupons on the line. */
export interface LineItemCouponsBody {
  [price_id: string]: CouponCodes;
}

/** Of one request: each of them is a record to be stored, while others wait for its coupon. */
const CODES_MAX = 1000;

/** @maxItems 100 */
export type CouponCodes = string[];

/** A coupon that a request puts on the subscription, or on the line that a price names. */
export type CouponCode = {
  /** Where the code stands in the request. */
  readonly place: string;
  readonly code: string;
  /** Null for the invoices as a whole. */
  readonly priceId: string | null;
};

function readCodes(
  reader: MemberReader,
  codes: readonly string[],
  { place, priceId }: { readonly place: string; readonly priceId: string | null },
): readonly CouponCode[] {
  const seen = new Set<string>();
  return codes.map((code, index) => {
    const member = `${place}.${index}`;
    if (seen.has(code)) reader.note(member, 'must not be given twice');
    seen.add(code);
    return { place: member, code, priceId };
  });
}

/** The members of a request that change the amounts of the subscription's invoices. */
type AdjustmentMembers = {
  readonly coupons?: readonly string[];
  readonly line_item_coupons?: LineItemCouponsBody;
  readonly tax_rate_overrides?: readonly TaxRateOverrideBody[];
  readonly credit_grants?: readonly CreditGrantOfSubscriptionBody[];
};

/** What a request puts on a subscription beside its lines. */
export type RequestedAdjustments = {
  readonly coupons: readonly CouponCode[];
  readonly taxes: readonly TaxOverride[];
  readonly grants: readonly GrantOfNewSubscription[];
};

function readCouponCodes(
  reader: MemberReader,
  { coupons = [], line_item_coupons: ofLines = {} }: AdjustmentMembers,
): readonly CouponCode[] {
  const onLines = Object.entries(ofLines).flatMap(([priceId, codes]) =>
    readCodes(reader, codes, { place: `line_item_coupons.${priceId}`, priceId }),
  );
  if (coupons.length + onLines.length > CODES_MAX) {
    reader.note('line_item_coupons', `must have, with coupons, at most ${CODES_MAX} codes in all`);
  }
  return [...readCodes(reader, coupons, { place: 'coupons', priceId: null }), ...onLines];
}

/** Reads `coupons`, `line_item_coupons`, `tax_rate_overrides` and `credit_grants`. */
export function readAdjustments(
  reader: MemberReader,
  members: AdjustmentMembers,
  startMs: InstantMs,
): RequestedAdjustments {
  return {
    coupons: readCouponCodes(reader, members),
    taxes: readTaxOverrides(reader, members.tax_rate_overrides),
    grants: readGrantsOfSubscription(reader, members.credit_grants, startMs),
  };
}
