import { Decimal, plain } from '../../../contract/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { localText } from '../../domain/calendar/local-time.js';
import type { InvoiceLine } from '../../domain/invoice/invoice.js';
import type { AllowanceTrace } from '../../domain/entitlement/allowance-trace.js';
import type { CommitmentTrace } from '../../domain/commitment/commitment-trace.js';
import type { PricedWindow } from '../../domain/rating/priced-window.js';
import type { Proration } from '../../domain/calendar/proration.js';
import type { LineTrace, Rounding, UsageTrace } from '../../domain/invoice/line-trace.js';
import { formatMoney } from '../../domain/money.js';
import type { PricingTrace } from '../../domain/rating/pricing-trace.js';
import { windowCharge } from '../../domain/rating/window-charge.js';
import type { InvoicePreview } from '../preview-invoice.js';
import { instantToDto } from '../../records/record-dto.js';
import type {
  ExplainedAllowanceDto,
  ExplainedCommitmentDto,
  ExplainedMeterDto,
  ExplainedPricingDto,
  ExplainedProrationDto,
  ExplainedRoundingDto,
  ExplainedWindowDto,
  ExplainedWindowsDto,
  ExplanationDto,
} from './explanation-dto.js';
import { meterToDto } from '../../catalog/meters/meter.resource.js';

const COEFFICIENT_DIGITS = 18;

function coefficientOf({ coveredMs, fullMs }: Proration): string {
  const coefficient = new Decimal(coveredMs).dividedBy(fullMs);
  return plain(coefficient.toDecimalPlaces(COEFFICIENT_DIGITS, Decimal.ROUND_HALF_UP));
}

function meterOf(
  { meterId, meterVersion, eventName, filters, filterValues }: UsageTrace,
  { metering }: InvoicePreview,
): ExplainedMeterDto {
  const meter = assertPresent(metering.meters.get(meterId), 'the meter of a line');
  return {
    id: meterId,
    version: meterVersion,
    event_name: eventName,
    filters: filters.map(({ key, values }) => ({ key, values: [...values] })),
    filter_values: Object.fromEntries(
      Object.entries(filterValues).map(([key, values]) => [key, [...values]]),
    ),
    aggregation: meterToDto(meter).aggregation,
  };
}

function allowanceToDto({ limit, resetPeriod, windows }: AllowanceTrace): ExplainedAllowanceDto {
  return {
    limit: limit === null ? null : plain(limit),
    reset_period: resetPeriod,
    windows: windows.map((window) => ({
      start: formatInstant(window.startMs),
      end: formatInstant(window.endMs),
      used_before: plain(window.usedBefore),
      used_until: plain(window.usedUntil),
      free: plain(window.free),
    })),
  };
}

function pricingToDto({
  billingModel,
  tierMode,
  steps,
  packages,
}: PricingTrace): ExplainedPricingDto {
  return {
    billing_model: billingModel,
    tier_mode: tierMode,
    steps: steps.map((step) => ({
      tier: step.tier,
      up_to: step.upTo,
      quantity: plain(step.quantity),
      unit_amount: plain(step.unitAmount),
      flat_amount: plain(step.flatAmount),
      amount: plain(step.amount),
    })),
    packages: packages === null ? null : plain(packages),
  };
}

function windowToDto(window: PricedWindow, timezone: string): ExplainedWindowDto {
  const { commitment, utilized, overage, trueUp, charge } = windowCharge(window);
  return {
    start: formatInstant(window.startMs),
    end: formatInstant(window.endMs),
    local_start: localText(window.startMs, timezone),
    group: window.group,
    quantity: plain(window.quantity),
    price_id: window.rule.price.id,
    bucket_id: window.rule.bucketId,
    usage_amount: plain(window.usageAmount),
    commitment: commitment === null ? null : plain(commitment),
    scale: window.scale === null ? null : coefficientOf(window.scale),
    utilized: plain(utilized),
    overage: plain(overage),
    true_up: plain(trueUp),
    charge: plain(charge),
  };
}

function windowsToDto(
  windows: readonly PricedWindow[],
  timezone: string,
  { limit, offset }: WindowsPage,
): ExplainedWindowsDto {
  const shown = windows.slice(offset, offset + limit);
  return {
    items: shown.map((window) => windowToDto(window, timezone)),
    pagination: { limit, offset, total: windows.length },
  };
}

function commitmentToDto(trace: CommitmentTrace): ExplainedCommitmentDto {
  return {
    level: trace.level,
    type: trace.type,
    amount: plain(trace.amount),
    used_before: plain(trace.usedBefore),
    in_commitment: plain(trace.inCommitment),
    overage_base: plain(trace.overageBase),
    overage_factor: plain(trace.overageFactor),
    overage: plain(trace.overage),
    true_up: plain(trace.trueUp),
    split_of: trace.splitOf === null ? null : plain(trace.splitOf),
  };
}

function prorationToDto(proration: Proration): ExplainedProrationDto {
  return {
    coefficient: coefficientOf(proration),
    covered_seconds: proration.coveredMs / 1000,
    full_seconds: proration.fullMs / 1000,
  };
}

function roundingToDto({ exact, rounded, digits, mode }: Rounding): ExplainedRoundingDto {
  return { exact: plain(exact), rounded: plain(rounded), digits, mode };
}

/** Which windows of every line are shown. */
export type WindowsPage = { readonly limit: number; readonly offset: number };

type UsageMembers = Pick<ExplanationDto, 'meter' | 'customers' | 'event_count' | 'quantity'>;

function usageMembers({ usage }: LineTrace, preview: InvoicePreview): UsageMembers {
  if (usage === null) return { meter: null, customers: [], event_count: null, quantity: null };
  const { raw, billed, allowance } = usage;
  return {
    meter: meterOf(usage, preview),
    customers: [preview.customer.id],
    event_count: usage.eventCount,
    quantity: {
      raw: plain(raw),
      allowance: allowance === null ? null : allowanceToDto(allowance),
      billed: plain(billed),
    },
  };
}

/** How a line of a preview came about (api.md 6); windows by page. */
export function explanationToDto(
  line: InvoiceLine,
  preview: InvoicePreview,
  page: WindowsPage,
): ExplanationDto {
  const { trace } = line;
  const { currency } = preview.invoice;
  const { timezone, pricing, windows, commitment, proration } = trace;
  return {
    invoice_id: null,
    line_item_id: null,
    currency,
    timezone,
    period: {
      start: formatInstant(trace.window.startMs),
      end: formatInstant(trace.window.endMs),
    },
    ...usageMembers(trace, preview),
    watermark: instantToDto(preview.dataUntil),
    pricing: pricing === null ? null : pricingToDto(pricing),
    windows: windows === null ? null : windowsToDto(windows, timezone, page),
    commitment: commitment === null ? null : commitmentToDto(commitment),
    proration: proration === null ? null : prorationToDto(proration),
    rounding: roundingToDto(trace.rounding),
    discounts: trace.discounts.map(({ couponAssociationId, base, amount }) => ({
      coupon_association_id: couponAssociationId,
      base: formatMoney(base, currency),
      amount: formatMoney(amount, currency),
    })),
    amount: formatMoney(line.amount, currency),
  };
}
