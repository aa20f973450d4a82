import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import {
  instantToDto,
  type DateTime,
  type PageRequest,
  type PaginationDto,
} from '../../records/record-dto.js';
import type { LateUsageRow } from './read-late-usage.js';

/** Which late usage is listed. */
export interface LateUsageQuery extends PageRequest {
  customer_id?: string;
  external_customer_id?: string;
  subscription_id?: string;
  invoice_id?: string;
  meter_id?: string;
  /** `open`: something is not charged yet; `charged`: all of it is. Both when absent. */
  state?: 'open' | 'charged';
}

/** What is known of a line of a final invoice now, beyond what the invoice says. */
export interface LateUsageDto {
  /** The final invoice of the period. */
  invoice_id: string;
  invoice_number: string | null;
  customer_id: string;
  subscription_id: string;
  subscription_line_item_id: string | null;
  /** Null for a line whose commitment or share of a discount has changed. */
  meter_id: string | null;
  display_name: string;
  period_start: DateTime;
  period_end: DateTime;
  currency: string;
  /** What is counted now, less what the invoice counted. */
  quantity: string;
  /** What the line costs now at the prices of its period, less what the invoice charged for it. */
  amount: string;
  /** What later invoices have charged of it, drafts included. */
  charged_quantity: string;
  charged_amount: string;
  /** The invoices that did. */
  charged_on: string[];
  /** What is left to charge, or below 0 to give back. */
  open_amount: string;
  /** What is done about it: `bill` puts it on the next invoice, `report` lists it only. */
  policy: 'bill' | 'report' | 'reopen';
  /** Events of the name of the meter that came after the invoice was computed. @isInt */
  event_count: number;
  first_received_at: DateTime | null;
  last_received_at: DateTime | null;
  /** When it was found last. */
  seen_at: DateTime;
}

export interface LateUsageListDto {
  items: LateUsageDto[];
  pagination: PaginationDto;
}

export function lateUsageToDto(row: LateUsageRow): LateUsageDto {
  const money = (text: string): string => formatMoney(new Money(decimalOf(text), row.currency));
  const open = decimalOf(row.amount).minus(decimalOf(row.charged_amount));
  return {
    invoice_id: row.invoice_id,
    invoice_number: row.invoice_number,
    customer_id: row.customer_id,
    subscription_id: row.child_subscription_id ?? row.subscription_id,
    subscription_line_item_id: row.subscription_line_item_id,
    meter_id: row.meter_id,
    display_name: row.display_name,
    period_start: formatInstant(row.period_start),
    period_end: formatInstant(row.period_end),
    currency: row.currency,
    quantity: plain(decimalOf(row.quantity)),
    amount: money(row.amount),
    charged_quantity: plain(decimalOf(row.charged_quantity)),
    charged_amount: money(row.charged_amount),
    charged_on: [...row.charged_on],
    open_amount: formatMoney(new Money(open, row.currency)),
    policy: row.policy,
    event_count: row.event_count,
    first_received_at: instantToDto(row.first_received_at),
    last_received_at: instantToDto(row.last_received_at),
    seen_at: formatInstant(row.seen_at),
  };
}
