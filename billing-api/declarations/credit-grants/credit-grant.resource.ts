import { ADDONS } from '../catalog/addon.resource.js';
import { PLANS } from '../catalog/plan.resource.js';
import type { BillingPeriod } from '../../domain/calendar/billing-grid.js';
import { RECURRING_PERIODS } from '../../domain/price/price-cadence.js';
import {
  decimal,
  instant,
  integer,
  nullable,
  oneOf,
  recordVersion,
  text,
} from '../../records/columns.js';
import type {
  DateTime,
  DecimalText,
  MetadataDto,
  ListDto,
  RecordDto,
} from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';
import { SUBSCRIPTIONS } from '../subscriptions/subscription.resource.js';

export type CreditGrantScope = 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
export type CreditGrantCadence = 'ONETIME' | 'RECURRING';
export type CreditGrantExpiration = 'NEVER' | 'DURATION' | 'BILLING_CYCLE';
export type CreditGrantExpirationUnit = 'DAY' | 'WEEK' | 'MONTH' | 'YEAR';

export const CREDIT_GRANTS = defineResource({
  name: 'credit grant',
  idPrefix: 'cg',
  table: 'credit_grants',
  columns: {
    name: text,
    scope: oneOf(['PLAN', 'ADDON', 'SUBSCRIPTION']),
    plan_id: nullable(text),
    addon_id: nullable(text),
    subscription_id: nullable(text),
    credits: decimal,
    cadence: oneOf(['ONETIME', 'RECURRING']),
    period: nullable(oneOf(RECURRING_PERIODS)),
    period_count: nullable(integer),
    expiration_type: oneOf(['NEVER', 'DURATION', 'BILLING_CYCLE']),
    expiration_duration: nullable(integer),
    expiration_duration_unit: nullable(oneOf(['DAY', 'WEEK', 'MONTH', 'YEAR'])),
    priority: nullable(integer),
    credit_grant_anchor: nullable(instant),
    start_date: nullable(instant),
    end_date: nullable(instant),
    conversion_rate: nullable(decimal),
    topup_conversion_rate: nullable(decimal),
    version: recordVersion,
  },
  references: { plan_id: PLANS, addon_id: ADDONS, subscription_id: SUBSCRIPTIONS },
  removal: 'archived',
});
export type CreditGrantRow = RecordOf<typeof CREDIT_GRANTS>;
export type NewCreditGrant = NewRecord<(typeof CREDIT_GRANTS)['columns']>;

/**
 * Credits that a customer gets once or repeatedly. Those of a plan and of an addon are copied to
 * every subscription that is made with it.
 */
export interface CreditGrantDto extends RecordDto {
  name: string;
  cadence: CreditGrantCadence;
  credits: DecimalText;
  /** Money that one credit is worth. */
  conversion_rate: DecimalText | null;
  /** Money that one credit costs. */
  topup_conversion_rate: DecimalText | null;
  credit_grant_anchor: DateTime | null;
  start_date: DateTime | null;
  end_date: DateTime | null;
  expiration_type: CreditGrantExpiration;
  /** @isInt */
  expiration_duration: number | null;
  expiration_duration_unit: CreditGrantExpirationUnit | null;
  period: BillingPeriod | null;
  /** @isInt */
  period_count: number | null;
  /** @isInt */
  priority: number | null;
  scope: CreditGrantScope;
  plan_id: string | null;
  addon_id: string | null;
  subscription_id: string | null;
}

export interface CreditGrantListDto extends ListDto<CreditGrantDto> {}

export function creditGrantToDto(row: CreditGrantRow): CreditGrantDto {
  return recordToDto(CREDIT_GRANTS, row);
}

/** What a request says of a grant, whoever owns it. */
export interface CreditGrantTermsBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /** Greater than 0. */
  credits: DecimalText;
  cadence: CreditGrantCadence;
  /** Required for RECURRING, as is `period_count`. */
  period?: BillingPeriod;
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  period_count?: number;
  /** @default "NEVER" */
  expiration_type?: CreditGrantExpiration;
  /**
   * Required for DURATION, as is its unit.
   * @isInt
   * @minimum 1
   * @maximum 10000
   */
  expiration_duration?: number;
  expiration_duration_unit?: CreditGrantExpirationUnit;
  /**
   * The lowest is consumed first, and those without one last.
   * @isInt
   * @minimum -2147483648
   * @maximum 2147483647
   */
  priority?: number;
  /** From which the periods are counted; `start_date` when absent. Scope SUBSCRIPTION only. */
  credit_grant_anchor?: DateTime;
  /** Required for scope SUBSCRIPTION, and of no other, as is `end_date`. */
  start_date?: DateTime;
  end_date?: DateTime;
  /** Greater than 0. */
  conversion_rate?: DecimalText;
  /** Greater than 0. */
  topup_conversion_rate?: DecimalText;
  metadata?: MetadataDto;
}

/**
 * @example {"name": "Welcome credits", "scope": "PLAN", "plan_id":
 *   "plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "credits": "100", "cadence": "ONETIME"}
 */
export interface CreateCreditGrantBody extends CreditGrantTermsBody {
  scope: CreditGrantScope;
  /** With scope PLAN. */
  plan_id?: string;
  /** With scope ADDON. */
  addon_id?: string;
  /** With scope SUBSCRIPTION. */
  subscription_id?: string;
}

/** A grant that is made with its subscription, and belongs to it. */
export interface CreditGrantOfSubscriptionBody extends CreditGrantTermsBody {
  /** @default "SUBSCRIPTION" */
  scope?: 'SUBSCRIPTION';
  /** That of the subscription when absent. */
  start_date?: DateTime;
}

/**
 * Members that are present are changed.
 * @example {"name": "Starter credits"}
 */
export interface ChangeCreditGrantBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
  /** Of a subscription only, and not in the past; null clears it. */
  end_date?: DateTime | null;
}

/** @example {"end_date": "2027-01-01T00:00:00Z"} */
export interface EndCreditGrantBody {
  /** Of a subscription only; now when absent. */
  end_date?: DateTime;
}
