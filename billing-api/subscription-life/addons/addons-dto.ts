import type { WalletTransactionDto } from '../../declarations/money/wallet-transaction.resource.js';
import type { LineItemCommitmentsBody } from '../../declarations/subscriptions/commitment-dto.js';
import type { LineItemDto } from '../../declarations/subscriptions/line-item.resource.js';
import type { DateTime, MetadataDto, PaginationDto, RecordDto } from '../../records/record-dto.js';
import type { OverrideLineItemBody } from '../../subscriptions/lines/override-lines.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';

/**
 * @example {"subscription_id": "subs_01KAHZ3M4N5P6Q7R8S9T0V1W2X",
 *   "addon_id": "addon_01KAHZ3M4N5P6Q7R8S9T0V1W2X"}
 */
export interface AddAddonBody {
  subscription_id: string;
  addon_id: string;
  /** `onetime` lasts until the end of the running period, and nothing of it is refunded. */
  cadence?: 'onetime' | 'recurring';
  /** In the running period; now when absent. */
  start_date?: DateTime;
  /** Where it ends; not of a onetime one. */
  end_date?: DateTime;
  /** In place of what prices of the addon say. @maxItems 1000 */
  override_line_items?: OverrideLineItemBody[];
  line_item_commitments?: LineItemCommitmentsBody;
  /**
   * `create_prorations` charges what it costs in advance for the rest of the period at once; `none`
   * on the next invoice.
   */
  proration_behavior?: 'create_prorations' | 'none';
  metadata?: MetadataDto;
  /** Answers what would happen, and stores nothing. @default false */
  dry_run?: boolean;
}

/** @example {"addon_association_id": "addon_assoc_01KAHZ3M4N5P6Q7R8S9T0V1W2X"} */
export interface RemoveAddonBody {
  addon_association_id: string;
  /** In the running period; its end when absent. */
  effective_date?: DateTime;
  /**
   * `create_prorations` gives what is unused of its charges in advance to a wallet; a onetime addon
   * is not refunded.
   */
  proration_behavior?: 'create_prorations' | 'none';
  /** @maxLength 255 */
  reason?: string;
  /** Answers what would happen, and stores nothing. @default false */
  dry_run?: boolean;
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
  /** Whether it was only a look. */
  dry_run: boolean;
}

/** An addon that was removed, with what was given back for it. */
export interface RemovedAddonDto extends AddonAssociationDto {
  /** Null where nothing was given back. */
  wallet_transaction: WalletTransactionDto | null;
  message: string;
  /** Whether it was only a look. */
  dry_run: boolean;
}

export interface AddonAssociationListDto {
  items: AddonAssociationDto[];
  pagination: PaginationDto;
}
