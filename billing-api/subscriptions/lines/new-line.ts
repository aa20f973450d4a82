import type { InstantMs } from '../../../contract/instant.js';
import type { MetadataDto } from '../../records/record-dto.js';
import type { NewLineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { LinePrice } from './line-price.js';
import type { RequestedTimeBucket } from './time-buckets.js';

/** A time bucket with its price. */
export type PricedTimeBucket = { readonly bucket: RequestedTimeBucket; readonly price: LinePrice };

/** The columns in which a line item has its commitment. */
export type CommitmentColumns = Required<
  Pick<
    NewLineItemRow,
    | 'commitment_type'
    | 'commitment_amount'
    | 'commitment_quantity'
    | 'commitment_duration'
    | 'commitment_overage_factor'
    | 'commitment_true_up_enabled'
    | 'commitment_windowed'
  >
>;

/** An addon that brings lines, from its own start on. */
export type AddonOfLine = {
  readonly id: string;
  readonly name: string;
  readonly associationId: string;
  readonly startMs: InstantMs;
};

/** A line item of a subscription that is to be created. */
export type NewLine = {
  readonly entityType: 'plan' | 'addon' | 'subscription';
  /** The addon that brings the line; null for every other one. */
  readonly addon: AddonOfLine | null;
  /** The price by which a request names the line; null for one that comes with the request. */
  readonly priceId: string | null;
  readonly price: LinePrice;
  /** When a planned successor of the price takes over; null when none does. */
  readonly endMs: InstantMs | null;
  /** In place of the price's own default; null for that. */
  readonly quantity: string | null;
  /** Null for the name of the price. */
  readonly displayName: string | null;
  readonly metadata: MetadataDto;
  readonly commitment: CommitmentColumns;
  /** The id that it is stored under; absent where nothing names it before. */
  readonly id?: string;
  /** The phase of a subscription whose dates it carries. */
  readonly phase?: { readonly id: string; readonly startMs: InstantMs };
  /** The line item that it continues; absent for one that begins anew. */
  readonly continues?: { readonly id: string; readonly isSettled: boolean };
  /** Stored on the price of the line, which then is one of this subscription. */
  readonly timeBuckets: readonly PricedTimeBucket[];
};

/** The commitment of a stored line item, as another one goes on with it. */
export function commitmentOf(row: CommitmentColumns): CommitmentColumns {
  return {
    commitment_type: row.commitment_type,
    commitment_amount: row.commitment_amount,
    commitment_quantity: row.commitment_quantity,
    commitment_duration: row.commitment_duration,
    commitment_overage_factor: row.commitment_overage_factor,
    commitment_true_up_enabled: row.commitment_true_up_enabled,
    commitment_windowed: row.commitment_windowed,
  };
}

export const NO_COMMITMENT: CommitmentColumns = {
  commitment_type: null,
  commitment_amount: null,
  commitment_quantity: null,
  commitment_duration: null,
  commitment_overage_factor: null,
  commitment_true_up_enabled: false,
  commitment_windowed: false,
};
