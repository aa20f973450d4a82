import type { LineItemOwnerType } from '../../declarations/subscriptions/line-item.resource.js';
import type { LineItemDto } from '../../declarations/subscriptions/line-item.resource.js';
import type {
  DateTime,
  DecimalText,
  MetadataDto,
  PaginationDto,
  SearchBody,
} from '../../records/record-dto.js';
import type { LineItemCommitmentBody } from '../../declarations/subscriptions/commitment-dto.js';
import type { PriceOverrideBody } from '../../domain/price/price-model.js';
import type { AddedLineItemBody } from '../../subscriptions/lines/added-lines.js';

/** @example {"price_id": "price_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "quantity": "3"} */
export interface AddLineItemBody extends AddedLineItemBody, LineItemCommitmentBody {
  /** In the running period or later; now when absent. */
  start_date?: DateTime;
  end_date?: DateTime;
  /** Codes of coupons on this line. @maxItems 100 */
  coupons?: string[];
}

/** @example {"quantity": "12", "effective_from": "2026-01-16T00:00:00Z"} */
export interface ChangeLineItemBody extends PriceOverrideBody, LineItemCommitmentBody {
  /** Of a recurring fixed line item. */
  quantity?: DecimalText;
  /**
   * When another quantity, price or commitment begins: in the running period; now when absent. The
   * line item ends there, and one that has it goes on.
   */
  effective_from?: DateTime;
  /** @minLength 1 @maxLength 255 */
  display_name?: string;
  /** Replaced as a whole. */
  metadata?: MetadataDto;
}

/** @example {"effective_from": "2026-01-16T00:00:00Z"} */
export interface EndLineItemBody {
  /**
   * In the running period or later; now when absent. With `create_prorations` a line that is
   * charged in advance ends in the running period or at its end.
   */
  effective_from?: DateTime;
  /**
   * `create_prorations` gives what is unused of its charges in advance to a wallet, as a quantity
   * of 0 does; `none` gives nothing back.
   * @default "none"
   */
  proration_behavior?: 'create_prorations' | 'none';
}

/** @example {"subscription_ids": ["subs_01KAHZ3M4N5P6Q7R8S9T0V1W2X"]} */
export interface SearchLineItemsBody extends SearchBody {
  /** @maxItems 1000 */
  subscription_ids?: string[];
  /** @maxItems 1000 */
  price_ids?: string[];
  /** @maxItems 1000 */
  meter_ids?: string[];
  entity_type?: LineItemOwnerType;
  /** Those that exist at this instant. */
  active_at?: DateTime;
}

export interface LineItemListDto {
  items: LineItemDto[];
  pagination: PaginationDto;
}
