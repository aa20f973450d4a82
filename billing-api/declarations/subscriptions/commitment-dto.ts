import type { DecimalText } from '../../records/record-dto.js';
import type { InlinePriceBody } from '../catalog/price-bodies.js';
import type { BillingPeriod } from '../../domain/calendar/billing-grid.js';

export type CommitmentTypeDto = 'amount' | 'quantity';

/** A local time of day; 24 only as the end of a day. */
export interface TimeOfDayBody {
  /**
   * @isInt
   * @minimum 0
   * @maximum 24
   */
  hour: number;
  /**
   * Dropped for meters whose windows are an hour and longer.
   * @isInt
   * @minimum 0
   * @maximum 59
   * @default 0
   */
  minute?: number;
}

/**
 * Hours of the local day with a commitment per window and a price of their own; an end before the
 * start lies past midnight.
 */
export interface CommitmentTimeBucketBody {
  start: TimeOfDayBody;
  end: TimeOfDayBody;
  commitment_type: CommitmentTypeDto;
  /** Per window; greater than 0. */
  commitment_value: DecimalText;
  /** Multiplies the charge beyond the commitment (overage); 1 or more. @maximum 1000000000000 */
  overage_factor: number;
  /** Whether the unused part of the commitment is charged (true-up). @default false */
  true_up_enabled?: boolean;
  /** A usage price of the line's meter; either this or `price`. */
  price_id?: string;
  price?: InlinePriceBody;
}

/**
 * Exactly one of `commitment_amount` and `commitment_quantity`, with a factor; a line with time
 * buckets may have neither.
 */
export interface LineItemCommitmentBody {
  /** Follows from the member that is given. */
  commitment_type?: CommitmentTypeDto;
  /** In money; greater than 0. */
  commitment_amount?: DecimalText;
  /** In units of the meter, priced by the line's own price; greater than 0. */
  commitment_quantity?: DecimalText;
  /** The billing period when absent, or a whole multiple of it. */
  commitment_duration?: BillingPeriod;
  /** Multiplies the charge beyond the commitment (overage); 1 or more. */
  commitment_overage_factor?: DecimalText;
  /** Whether the unused part of the commitment is charged (true-up). @default false */
  commitment_true_up_enabled?: boolean;
  /** The commitment holds for every bucket of the meter by itself. @default false */
  commitment_windowed?: boolean;
  /**
   * Only with `commitment_windowed` and a bucket_size of at most DAY. They must not overlap.
   * @maxItems 1440
   */
  commitment_time_buckets?: CommitmentTimeBucketBody[];
}

/** A commitment of all usage lines together (docs/domain.md 11.1, 11.2). */
export interface SubscriptionCommitmentBody {
  /** In money, of all usage lines together; not beside `line_item_commitments`. */
  commitment_amount?: DecimalText;
  /** Multiplies the charge beyond the commitment (overage); 1, which has no effect, or more. */
  overage_factor?: DecimalText;
  /** The billing period when absent, or a whole multiple of it. */
  commitment_duration?: BillingPeriod;
  /** Whether the unused part of the commitment is charged (true-up). @default false */
  enable_true_up?: boolean;
}

/** By the price of the line. */
export interface LineItemCommitmentsBody {
  [price_id: string]: LineItemCommitmentBody;
}

export interface TimeOfDayDto {
  /** @isInt */
  hour: number;
  /** @isInt */
  minute: number;
}

export interface CommitmentTimeBucketDto {
  id: string;
  price_id: string;
  commitment_type: CommitmentTypeDto;
  commitment_value: DecimalText;
  overage_factor: number;
  true_up_enabled: boolean;
  start: TimeOfDayDto;
  end: TimeOfDayDto;
}

/** The commitment of a line and its share in the line's amount. */
export interface CommitmentInfoDto {
  /** Null where only time buckets commit, as are the members that describe it. */
  type: CommitmentTypeDto | null;
  /** In money; null for windows of a quantity. */
  amount: DecimalText | null;
  quantity: DecimalText | null;
  duration: BillingPeriod | null;
  is_windowed: boolean;
  overage_factor: DecimalText | null;
  true_up_enabled: boolean | null;
  /** This and the next two add up to the line's amount. */
  computed_commitment_utilized_amount: DecimalText | null;
  computed_overage_amount: DecimalText | null;
  computed_true_up_amount: DecimalText | null;
}
