import type { PriceOwnerBody } from '../../domain/price/price-owner.js';
import type { PriceChangeBody } from '../../domain/price/succeeding-price.js';
import type { PriceBody } from '../../domain/price/price.js';
import type { DateTime, MetadataDto } from '../../records/record-dto.js';

/**
 * A price without its owner. Members that are missing follow from those that are given: with
 * `meter_id` it is a USAGE price, with `tiers` TIERED, with `transform_quantity` PACKAGE, else
 * FIXED and FLAT_FEE.
 */
export interface InlinePriceBody extends PriceBody {
  /** @minLength 1 @maxLength 255 */
  lookup_key?: string;
  /** @maxLength 255 */
  display_name?: string;
  /** @maxLength 10000 */
  description?: string;
  /** A group with the entity_type price. */
  group_id?: string;
  start_date?: DateTime;
  end_date?: DateTime;
  metadata?: MetadataDto;
}

/**
 * A price of a plan, of an addon or of one subscription.
 * @example {"entity_id": "plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "currency": "usd", "meter_id":
 *   "meter_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "amount": "0.0025", "display_name": "API calls"}
 */
export interface CreatePriceBody extends InlinePriceBody, PriceOwnerBody {}

/**
 * Members that are present are changed. Those that say what is charged end the price at
 * `effective_from` and make a successor, which is answered: amount, billing_model, tier_mode,
 * tiers, transform_quantity, max_amount, price_unit_config.
 * @example {"amount": "0.003", "effective_from": "2027-01-01T00:00:00Z"}
 */
export interface ChangePriceBody extends PriceChangeBody {
  /** Null clears it. The successor takes it over. @minLength 1 @maxLength 255 */
  lookup_key?: string | null;
  /** Null clears it. @maxLength 255 */
  display_name?: string | null;
  /** Null clears it. @maxLength 10000 */
  description?: string | null;
  /** A group with the entity_type price; "" and null take it out of its group. */
  group_id?: string | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
  /** Of a change of what is charged; now when absent. */
  effective_from?: DateTime;
}

/** @example {"end_date": "2027-01-01T00:00:00Z"} */
export interface EndPriceBody {
  /** Now when absent. */
  end_date?: DateTime;
}
