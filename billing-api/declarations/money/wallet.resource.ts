import { z } from 'zod';
import {
  alertSettings,
  type AlertSettingsBody,
  type AlertSettingsDto,
} from '../alerts/alert-settings.js';
import { CUSTOMERS, type CustomerDto } from '../customers/customer.resource.js';
import { ALERT_STATES } from '../../domain/wallet/alert-state.js';
import { moneyOfCredits } from '../../domain/wallet/credits.js';
import { WALLET } from '../../domain/lifecycle/money-lifecycle.js';
import { plain } from '../../../contract/number/decimal.js';
import { json, nullable, oneOf, raisedByChange, integer, text } from '../../records/columns.js';
import type {
  Currency,
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
import { figure } from '../invoices/value-columns.js';

export type WalletType = 'PRE_PAID' | 'POST_PAID';
export type WalletStatus = 'active' | 'frozen' | 'closed';
export type PaidPriceType = 'ALL' | 'USAGE' | 'FIXED';

/** What a wallet may pay. */
export interface WalletConfigDto {
  /**
   * USAGE for a PRE_PAID wallet, ALL for a POST_PAID one, unless it is given.
   * @minItems 1
   * @maxItems 3
   */
  allowed_price_types?: PaidPriceType[];
}

export interface CooldownDto {
  /**
   * @isInt
   * @minimum 1
   * @maximum 10000
   */
  value: number;
  unit: 'second' | 'minute' | 'hour' | 'day';
}

/** Credits that are added by themselves when few are left (docs/domain.md 20.9). */
export interface AutoTopupDto {
  enabled: boolean;
  /** Of the credits that are left. */
  threshold: DecimalText;
  /** Credits to be added, more than 0. */
  amount: DecimalText;
  /**
   * By an invoice, whose credits arrive when it is paid.
   * @default false
   */
  invoicing?: boolean;
  cooldown?: CooldownDto;
}

const autoTopup = z.object({
  enabled: z.boolean(),
  threshold: z.string(),
  amount: z.string(),
  invoicing: z.boolean().optional(),
  cooldown: z
    .object({ value: z.number(), unit: z.enum(['second', 'minute', 'hour', 'day']) })
    .optional(),
});

export const WALLETS = defineResource({
  name: 'wallet',
  idPrefix: 'wallet',
  table: 'wallets',
  columns: {
    customer_id: text,
    currency: text,
    name: nullable(text),
    description: nullable(text),
    wallet_type: oneOf(['PRE_PAID', 'POST_PAID']),
    wallet_status: oneOf(WALLET.states),
    credit_balance: figure,
    /** Money that one credit is worth. */
    conversion_rate: figure,
    /** Money that one credit costs. */
    topup_conversion_rate: figure,
    config: json(z.object({ allowed_price_types: z.array(z.enum(['ALL', 'USAGE', 'FIXED'])) })),
    auto_topup: nullable(json(autoTopup as z.ZodType<AutoTopupDto>)),
    alert_settings: nullable(alertSettings),
    alert_state: oneOf(ALERT_STATES),
    version: raisedByChange(integer),
  },
  unique: { wallets_active: 'customer_id' },
  references: { customer_id: CUSTOMERS },
  removal: null,
  lifecycle: { column: 'wallet_status', of: WALLET },
});
export type WalletRow = RecordOf<typeof WALLETS>;
export type NewWallet = NewRecord<(typeof WALLETS)['columns']>;

/** Credits of a customer, which pay its invoices. */
export interface WalletDto extends RecordDto {
  customer_id: string;
  /** Where a wallet is read by itself, and in searches when expanded. */
  customer?: CustomerDto | null;
  currency: Currency;
  name: string | null;
  description: string | null;
  wallet_type: WalletType;
  wallet_status: WalletStatus;
  /** `credit_balance` in money. */
  balance: DecimalText;
  /** May be less than 0 after a debit by hand. */
  credit_balance: DecimalText;
  conversion_rate: DecimalText;
  topup_conversion_rate: DecimalText;
  config: WalletConfigDto;
  auto_topup: AutoTopupDto | null;
  alert_settings: AlertSettingsDto | null;
  alert_state: 'ok' | 'info' | 'warning' | 'in_alarm';
  /** @isInt */
  version: number;
}

export interface WalletListDto extends ListDto<WalletDto> {}

export function walletToDto(row: WalletRow): WalletDto {
  const balance = plain(moneyOfCredits(row.credit_balance, row.conversion_rate));
  return { ...recordToDto(WALLETS, row), balance };
}

/**
 * @example {"external_customer_id": "acme", "currency": "usd", "name": "Prepaid",
 *   "conversion_rate": "1", "initial_credits_to_load": "100"}
 */
export interface CreateWalletBody {
  customer_id?: string;
  /** Your own id of the customer; it decides when both are given. */
  external_customer_id?: string;
  currency?: Currency;
  /** Code of a price unit, which gives currency and rate; instead of `currency`. */
  price_unit?: string;
  /** @default "PRE_PAID" */
  wallet_type?: WalletType;
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** @maxLength 10000 */
  description?: string;
  /**
   * Money that one credit is worth, more than 0.
   * @default "1"
   */
  conversion_rate?: DecimalText;
  /** Money that one credit costs, more than 0; `conversion_rate` when absent. */
  topup_conversion_rate?: DecimalText;
  config?: WalletConfigDto;
  auto_topup?: AutoTopupDto;
  alert_settings?: AlertSettingsBody;
  /** Free credits from the beginning, more than 0. */
  initial_credits_to_load?: DecimalText;
  /** In the future. */
  initial_credits_expiry_date_utc?: DateTime;
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed.
 * @example {"name": "Prepaid of the year", "wallet_status": "frozen"}
 */
export interface ChangeWalletBody {
  /** @minLength 1 @maxLength 255 */
  name?: string | null;
  /** @maxLength 10000 */
  description?: string | null;
  auto_topup?: AutoTopupDto | null;
  config?: WalletConfigDto;
  alert_settings?: AlertSettingsBody | null;
  /** A frozen wallet takes no credits and pays nothing. */
  wallet_status?: 'active' | 'frozen';
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}
