import { decimalOf } from '../../../contract/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { displayAmount } from '../../domain/money.js';
import type { MeterRow } from '../meters/meter.resource.js';
import type { PlanRow } from '../plans/plan.resource.js';
import type { PriceRow, TierColumn } from './prices-store.js';
import {
  instantToDto,
  rateToDto,
  recordToDto,
  type Currency,
  type DateTime,
  type DecimalText,
  type MetadataDto,
  type PaginationDto,
  type RecordDto,
  type SearchBody,
} from '../../records/record-dto.js';
import type { GroupDto } from '../features/feature.resource.js';
import type { AddonDto, PriceUnitDto } from '../../records/later-dto.js';
import { meterToDto, type MeterDto } from '../meters/meter.resource.js';
import { planToDto, type PlanDto } from '../plans/plan.resource.js';

export type PriceTypeDto = 'USAGE' | 'FIXED';
export type BillingModelDto = 'FLAT_FEE' | 'PACKAGE' | 'TIERED';
export type BillingCadenceDto = 'RECURRING' | 'ONETIME';
export type InvoiceCadenceDto = 'ARREAR' | 'ADVANCE';
export type TierModeDto = 'VOLUME' | 'SLAB';
export type PriceEntityTypeDto = 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
export type PriceUnitTypeDto = 'FIAT' | 'CUSTOM';
export type RecurringPeriodDto =
  'DAILY' | 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'HALF_YEARLY' | 'ANNUAL';
export type PricePeriodDto = RecurringPeriodDto | 'ONETIME';

export interface TierBody {
  unit_amount: DecimalText;
  flat_amount?: DecimalText;
  /**
   * Inclusive; absent on the last tier.
   * @isInt
   * @minimum 1
   * @maximum 9007199254740991
   */
  up_to?: number;
}

export interface TransformQuantityBody {
  /**
   * @isInt
   * @minimum 1
   * @maximum 9007199254740991
   */
  divide_by: number;
  /** @default "up" */
  round?: 'up' | 'down';
}

/** Price units are not available yet: refused when given. */
export interface PriceUnitConfigBody {
  price_unit: string;
  amount?: DecimalText;
  /** @maxItems 100 */
  price_unit_tiers?: TierBody[];
}

/**
 * Property key to the texts that count; one text stands for a list of one.
 * @example {"region": ["eu", "us"], "class": "premium"}
 */
export interface FilterValuesBody {
  [key: string]: string | string[];
}

/**
 * A price without its owner. Members that are missing follow from those that are given: with
 * `meter_id` it is a USAGE price, with `tiers` TIERED, with `transform_quantity` PACKAGE, else
 * FIXED and FLAT_FEE.
 */
export interface InlinePriceBody {
  amount?: DecimalText;
  currency: Currency;
  type?: PriceTypeDto;
  billing_model?: BillingModelDto;
  billing_cadence?: BillingCadenceDto;
  billing_period?: PricePeriodDto;
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  billing_period_count?: number;
  invoice_cadence?: InvoiceCadenceDto;
  meter_id?: string;
  filter_values?: FilterValuesBody;
  tier_mode?: TierModeDto;
  /** @maxItems 100 */
  tiers?: TierBody[];
  transform_quantity?: TransformQuantityBody;
  /** @minimum 0 */
  min_quantity?: number;
  /**
   * @isInt
   * @minimum 0
   * @maximum 10000
   */
  trial_period_days?: number;
  price_unit_type?: PriceUnitTypeDto;
  price_unit_config?: PriceUnitConfigBody;
  /** @minLength 1 @maxLength 255 */
  lookup_key?: string;
  /** @maxLength 255 */
  display_name?: string;
  /** @maxLength 10000 */
  description?: string;
  /** Groups are not available yet: refused when given. */
  group_id?: string;
  start_date?: DateTime;
  end_date?: DateTime;
  metadata?: MetadataDto;
}

/**
 * A price of a plan.
 * @example {"entity_id": "plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "currency": "usd", "meter_id":
 *   "meter_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "amount": "0.0025", "display_name": "API calls"}
 */
export interface CreatePriceBody extends InlinePriceBody {
  /** The plan; `plan_id` says the same. One of them is required. */
  entity_id?: string;
  plan_id?: string;
  /** Addons are not available yet. */
  addon_id?: string;
  /** Prices of one subscription come with the subscription. */
  subscription_id?: string;
  entity_type?: PriceEntityTypeDto;
}

export interface CreatePricesBody {
  /**
   * All of them are stored, or none.
   * @minItems 1
   * @maxItems 100
   */
  items: CreatePriceBody[];
}

export interface TierDto {
  unit_amount: DecimalText;
  flat_amount: DecimalText | null;
  /** @isInt */
  up_to: number | null;
}

export interface TransformQuantityDto {
  /** @isInt */
  divide_by: number;
  round: 'up' | 'down';
}

export interface FilterValuesDto {
  [key: string]: string[];
}

/** In lists, `meter`, `group`, `pricing_unit`, `plan` and `addon` only when expanded. */
export interface PriceDto extends RecordDto {
  type: PriceTypeDto;
  billing_model: BillingModelDto;
  billing_cadence: BillingCadenceDto;
  billing_period: PricePeriodDto;
  /** @isInt */
  billing_period_count: number;
  invoice_cadence: InvoiceCadenceDto;
  amount: DecimalText | null;
  currency: Currency;
  /** @example "$0.0025" */
  display_amount: string | null;
  display_name: string | null;
  description: string | null;
  lookup_key: string | null;
  min_quantity: DecimalText | null;
  /** @isInt */
  trial_period_days: number | null;
  /** @isInt */
  sequence: number;
  start_date: DateTime;
  end_date: DateTime | null;
  parent_price_id: string | null;
  entity_type: PriceEntityTypeDto;
  entity_id: string;
  group_id: string | null;
  group?: GroupDto | null;
  meter_id: string | null;
  meter?: MeterDto | null;
  plan?: PlanDto | null;
  addon?: AddonDto | null;
  filter_values: FilterValuesDto | null;
  tier_mode: TierModeDto | null;
  tiers: TierDto[] | null;
  transform_quantity: TransformQuantityDto | null;
  price_unit: string | null;
  price_unit_id: string | null;
  price_unit_amount: DecimalText | null;
  display_price_unit_amount: string | null;
  conversion_rate: DecimalText | null;
  price_unit_type: PriceUnitTypeDto;
  price_unit_tiers: TierDto[] | null;
  pricing_unit?: PriceUnitDto | null;
}

export interface PriceListDto {
  items: PriceDto[];
  pagination: PaginationDto;
}

export interface PricesDto {
  items: PriceDto[];
}

export interface SearchPricesBody extends SearchBody {
  /** @maxItems 1000 */
  price_ids?: string[];
  /** @maxItems 1000 */
  plan_ids?: string[];
  entity_type?: PriceEntityTypeDto;
  /** @maxItems 1000 */
  entity_ids?: string[];
  subscription_id?: string;
  parent_price_id?: string;
  /** @maxItems 1000 */
  meter_ids?: string[];
  /** @maxItems 7 */
  billing_periods?: PricePeriodDto[];
  /** Also prices that have ended. @default false */
  allow_expired_prices?: boolean;
  start_date_lt?: DateTime;
}

/** What was read beside prices; absent means that it was not asked for. */
export type PriceExpansions = {
  readonly meters?: ReadonlyMap<string, MeterRow>;
  readonly plans?: ReadonlyMap<string, PlanRow>;
  readonly names: ReadonlySet<string>;
};

function tierToDto(tier: TierColumn): TierDto {
  return {
    unit_amount: rateToDto(tier.unit_amount),
    flat_amount: tier.flat_amount === null ? null : rateToDto(tier.flat_amount),
    up_to: tier.up_to,
  };
}

type ExpandedMembers = Pick<PriceDto, 'meter' | 'plan' | 'group' | 'addon' | 'pricing_unit'>;

/** Groups, addons and price units cannot exist yet, so theirs are null. */
function expandedMembers(row: PriceRow, expansions: PriceExpansions): ExpandedMembers {
  const meter = expansions.meters?.get(row.meter_id ?? '');
  const plan = expansions.plans?.get(row.entity_id);
  const all: Required<ExpandedMembers> = {
    meter: meter === undefined ? null : meterToDto(meter),
    plan: plan === undefined ? null : planToDto(plan),
    group: null,
    addon: null,
    pricing_unit: null,
  };
  const wanted = Object.entries(all).filter(([name]) => expansions.names.has(name));
  return Object.fromEntries(wanted);
}

function nullableRate(text: string | null): DecimalText | null {
  return text === null ? null : rateToDto(text);
}

export function priceToDto(row: PriceRow, expansions: PriceExpansions): PriceDto {
  return {
    ...recordToDto(row),
    type: row.type,
    billing_model: row.billing_model,
    billing_cadence: row.billing_cadence,
    billing_period: row.billing_period,
    billing_period_count: row.billing_period_count,
    invoice_cadence: row.invoice_cadence,
    amount: nullableRate(row.amount),
    currency: row.currency,
    display_amount: row.amount === null ? null : displayAmount(decimalOf(row.amount), row.currency),
    display_name: row.display_name,
    description: row.description,
    lookup_key: row.lookup_key,
    min_quantity: nullableRate(row.min_quantity),
    trial_period_days: row.trial_period_days,
    sequence: row.sequence,
    start_date: formatInstant(row.start_date),
    end_date: instantToDto(row.end_date),
    parent_price_id: row.parent_price_id,
    entity_type: row.entity_type,
    entity_id: row.entity_id,
    group_id: row.group_id,
    meter_id: row.meter_id,
    filter_values: row.filter_values,
    tier_mode: row.tier_mode,
    tiers: row.tiers?.map(tierToDto) ?? null,
    transform_quantity: row.transform_quantity,
    price_unit: row.price_unit,
    price_unit_id: row.price_unit_id,
    price_unit_amount: nullableRate(row.price_unit_amount),
    display_price_unit_amount: null,
    conversion_rate: nullableRate(row.conversion_rate),
    price_unit_type: row.price_unit_type,
    price_unit_tiers: row.price_unit_tiers?.map(tierToDto) ?? null,
    ...expandedMembers(row, expansions),
  };
}

/** Prices without anything expanded. */
export const PRICE_PLAIN: PriceExpansions = { names: new Set() };
