import { plain } from '../../../contract/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import type { Proration } from '../../domain/calendar/proration.js';
import type { CommitmentTrace } from '../../domain/commitment/commitment-trace.js';
import type { InvoiceLine } from '../../domain/invoice/invoice.js';
import type { Rounding } from '../../domain/invoice/line-trace.js';
import { formatMoney } from '../../domain/money.js';
import type { PricingTrace } from '../../domain/rating/pricing-trace.js';
import { instantToDto } from '../../records/record-dto.js';
import type { InvoicePreview } from '../preview-invoice.js';
import { usageMembers } from './explained-usage.js';
import { coefficientOf, windowsToDto, type WindowsPage } from './explained-windows.js';
import type {
  ExplainedCommitmentDto,
  ExplainedPricingDto,
  ExplainedProrationDto,
  ExplainedRoundingDto,
  ExplanationDto,
} from './explanation-dto.js';

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

/**
 * Explains how the amount of a line was computed (docs/http.md 6), with one page of its windows.
 */
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
