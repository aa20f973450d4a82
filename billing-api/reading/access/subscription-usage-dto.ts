import { plain } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { InvoiceLine } from '../../domain/invoice/invoice.js';
import { formatMoney } from '../../domain/money/money.js';
import type { SubscriptionUsage } from './read-subscription-usage.js';
import type { Currency, DateTime, DecimalText } from '../../records/record-dto.js';
import { priceToDto, type PriceDto } from '../../declarations/catalog/price.resource.js';

/** @example {"subscription_id": "subs_01KAHZ3M4N5P6Q7R8S9T0V1W2X"} */
export interface SubscriptionUsageBody {
  subscription_id: string;
  /** The current billing period when absent. */
  start_time?: DateTime;
  end_time?: DateTime;
}

export interface UsageChargeDto {
  subscription_line_item_id: string;
  amount: DecimalText;
  currency: Currency;
  /** What was used, before an allowance. */
  quantity: DecimalText;
  meter_id: string | null;
  meter_display_name: string | null;
  price: PriceDto;
  /** Beyond the commitment of the subscription. */
  is_overage: boolean;
  overage_factor: DecimalText | null;
}

export interface SubscriptionUsageDto {
  /** Σ of the charges. */
  amount: DecimalText;
  currency: Currency;
  start_time: DateTime;
  end_time: DateTime;
  charges: UsageChargeDto[];
  commitment_amount: DecimalText | null;
  overage_factor: DecimalText | null;
  commitment_utilized: DecimalText | null;
  overage_amount: DecimalText;
  has_overage: boolean;
}

function chargeToDto(line: InvoiceLine, usage: SubscriptionUsage): UsageChargeDto {
  const { currency, prices, symbols, commitment } = usage;
  const { id, meter, price } = assertPresent(line.lineItem, 'the line item of a charge');
  const isOverage = line.kind === 'overage';
  return {
    subscription_line_item_id: id,
    amount: formatMoney(line.amount),
    currency,
    quantity: plain(line.quantity),
    meter_id: meter?.id ?? null,
    meter_display_name: meter?.displayName ?? null,
    price: priceToDto(assertPresent(prices.get(price.id), 'the line price'), symbols),
    is_overage: isOverage,
    overage_factor: isOverage && commitment !== null ? plain(commitment.overageFactor) : null,
  };
}

export function subscriptionUsageToDto(usage: SubscriptionUsage): SubscriptionUsageDto {
  const { currency, range, charges, commitment, overageAmount } = usage;
  return {
    amount: formatMoney(usage.amount),
    currency,
    start_time: formatInstant(range.startMs),
    end_time: formatInstant(range.endMs),
    charges: charges.map((line) => chargeToDto(line, usage)),
    commitment_amount: commitment === null ? null : formatMoney(commitment.amount),
    overage_factor: commitment === null ? null : plain(commitment.overageFactor),
    commitment_utilized: commitment === null ? null : formatMoney(commitment.utilized),
    overage_amount: formatMoney(overageAmount),
    has_overage: overageAmount.isAboveZero(),
  };
}
