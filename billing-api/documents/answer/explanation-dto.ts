import type { DateTime, DecimalText, ListDto } from '../../records/record-dto.js';
import type { CommitmentTypeDto } from '../../declarations/subscriptions/commitment-dto.js';
import type { AggregationDto, MeterFilterDto } from '../../declarations/catalog/meter.resource.js';
import type { UsageResetPeriodDto } from '../../declarations/entitlements/entitlement.resource.js';
import type { BillingModel, TierMode } from '../../domain/price/price-model.js';
import type { FilterValuesDto } from '../../declarations/catalog/price-json.js';

export interface ExplainedPeriodDto {
  start: DateTime;
  end: DateTime;
}

/** The meter as it counted the quantity. */
export interface ExplainedMeterDto {
  id: string;
  /** @isInt */
  version: number;
  event_name: string;
  filters: MeterFilterDto[];
  /** The filters that the price adds to those of the meter. */
  filter_values: FilterValuesDto;
  aggregation: AggregationDto;
}

/** A reset window of an allowance; its usage includes that of lines which share it. */
export interface ExplainedAllowanceWindowDto {
  /** Null: with all of the history, as of a meter that never resets. */
  start: DateTime | null;
  /** Null: without an end, as an allowance that never resets. */
  end: DateTime | null;
  used_before: DecimalText;
  used_until: DecimalText;
  /** What was left for the line. */
  free: DecimalText;
}

export interface ExplainedAllowanceDto {
  /** Null: unlimited. */
  limit: DecimalText | null;
  /** Null: the billing period. */
  reset_period: UsageResetPeriodDto | null;
  windows: ExplainedAllowanceWindowDto[];
}

export interface ExplainedQuantityDto {
  raw: DecimalText;
  allowance: ExplainedAllowanceDto | null;
  billed: DecimalText;
}

/** amount = unit_amount × quantity + flat_amount. A PACKAGE price counts packages as quantity. */
export interface ExplainedStepDto {
  /** @isInt */
  tier: number;
  /** @isInt */
  up_to: number | null;
  quantity: DecimalText;
  unit_amount: DecimalText;
  flat_amount: DecimalText;
  amount: DecimalText;
}

export interface ExplainedPricingDto {
  billing_model: BillingModel;
  tier_mode: TierMode | null;
  steps: ExplainedStepDto[];
  packages: DecimalText | null;
}

/** charge = utilized + overage + true_up, exact. */
export interface ExplainedWindowDto {
  start: DateTime;
  end: DateTime;
  /** The start by the wall clock of the subscription, with its offset. */
  local_start: string;
  group: string | null;
  quantity: DecimalText;
  price_id: string;
  /** The time bucket of the window; null outside of all time buckets. */
  bucket_id: string | null;
  usage_amount: DecimalText;
  /** In money; null without a commitment. */
  commitment: DecimalText | null;
  /** Share of the commitment that a cut window has; null for a whole window. */
  scale: DecimalText | null;
  utilized: DecimalText;
  overage: DecimalText;
  true_up: DecimalText;
  charge: DecimalText;
}

export interface ExplainedWindowsDto extends ListDto<ExplainedWindowDto> {}

export interface ExplainedCommitmentDto {
  level: 'subscription' | 'line';
  type: CommitmentTypeDto;
  /** In money. */
  amount: DecimalText;
  /** The part of it that earlier invoices and earlier lines of this one used. */
  used_before: DecimalText;
  in_commitment: DecimalText;
  /** What goes beyond the commitment, at the normal price. */
  overage_base: DecimalText;
  overage_factor: DecimalText;
  overage: DecimalText;
  true_up: DecimalText;
  /** The charge before it was split into this line and another; null if it was not split. */
  split_of: DecimalText | null;
}

/** What the maximum of the price made of the charge. */
export interface ExplainedMaximumDto {
  /** Of the price, for a billing period. */
  maximum: DecimalText;
  /** What the lines that this one continues were charged of it in the period. */
  charged_before: DecimalText;
  /** The charge without the maximum, exact. */
  uncapped: DecimalText;
}

export interface ExplainedProrationDto {
  /** covered ÷ full, half-up to 18 digits. */
  coefficient: DecimalText;
  covered_seconds: number;
  full_seconds: number;
}

export interface ExplainedRoundingDto {
  exact: DecimalText;
  rounded: DecimalText;
  /** @isInt */
  digits: number;
  /** `largest_remainder`: a part of a rounded sum. */
  mode: 'half_up_away_from_zero' | 'largest_remainder';
}

/** Why the line charges the difference of a period that an earlier invoice has billed. */
export interface ExplainedLateDto {
  /** The invoice of the period. */
  invoice_id: string;
  invoice_number: string | null;
  /** What it and later invoices counted; `quantity.raw` is what is counted now. */
  quantity_before: DecimalText;
  /** What the line of the period costs now, after the discounts of its period. */
  cost: DecimalText;
  /** What was charged of that; the amount is the difference. */
  charged_before: DecimalText;
  /** What this invoice was too small to give back: it waits for the next one. */
  waiting: DecimalText;
}

export interface ExplainedDiscountDto {
  coupon_association_id: string;
  base: DecimalText;
  amount: DecimalText;
}

/** How the amount of a line was computed. Parts that do not apply are null. */
export interface ExplanationDto {
  invoice_id: string | null;
  line_item_id: string | null;
  currency: string;
  timezone: string;
  period: ExplainedPeriodDto;
  meter: ExplainedMeterDto | null;
  /** The customers whose events count. */
  customers: string[];
  /** Events received before it are included. */
  watermark: DateTime | null;
  /** @isInt */
  event_count: number | null;
  quantity: ExplainedQuantityDto | null;
  pricing: ExplainedPricingDto | null;
  windows: ExplainedWindowsDto | null;
  commitment: ExplainedCommitmentDto | null;
  maximum: ExplainedMaximumDto | null;
  proration: ExplainedProrationDto | null;
  rounding: ExplainedRoundingDto;
  /** By threshold invoices of the same period; the amount is what is left. Null without any. */
  charged_before: DecimalText | null;
  /** Null unless the line charges late usage. */
  late: ExplainedLateDto | null;
  discounts: ExplainedDiscountDto[];
  amount: DecimalText;
}
