import type { LineItemDto } from '../../declarations/subscriptions/line-item.resource.js';
import type { DateTime, MetadataDto, PaginationDto, RecordDto } from '../../records/record-dto.js';
import type { InvoiceDto } from '../answer/invoice-dto.js';

/**
 * @example {"subscription_id": "subs_01KAHZ3M4N5P6Q7R8S9T0V1W2X",
 *   "addon_id": "addon_01KAHZ3M4N5P6Q7R8S9T0V1W2X"}
 */
export interface AddAddonBody {
  subscription_id: string;
  addon_id: string;
  /** In the running period; now when absent. */
  start_date?: DateTime;
  /**
   * `create_prorations` charges what it costs in advance for the rest of the period at once; `none`
   * on the next invoice.
   */
  proration_behavior?: 'create_prorations' | 'none';
  metadata?: MetadataDto;
}

/** @example {"addon_association_id": "addon_assoc_01KAHZ3M4N5P6Q7R8S9T0V1W2X"} */
export interface RemoveAddonBody {
  addon_association_id: string;
  /** In the running period; its end when absent. */
  effective_date?: DateTime;
  /** @maxLength 255 */
  reason?: string;
}

/** An addon that a subscription has, or had. */
export interface AddonAssociationDto extends RecordDto {
  subscription_id: string;
  addon_id: string;
  cadence: 'onetime' | 'recurring';
  /** A cancelled one lasts until `end_date`. */
  addon_status: 'pending' | 'active' | 'cancelled';
  start_date: DateTime;
  end_date: DateTime | null;
  line_items: LineItemDto[];
}

/** An addon that was added, with what was charged for it at once. */
export interface AddedAddonDto extends AddonAssociationDto {
  /** Null where nothing was charged at once. */
  invoice: InvoiceDto | null;
}

export interface AddonAssociationListDto {
  items: AddonAssociationDto[];
  pagination: PaginationDto;
}
