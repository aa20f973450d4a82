import { plain } from '../../../contract/number/decimal.js';
import type { Proration } from '../../domain/calendar/proration.js';
import type { CommitmentTrace } from '../../domain/commitment/commitment-trace.js';
import type { MaximumTrace } from '../../domain/rating/maximum-trace.js';
import type { LateTrace, Rounding } from '../../domain/invoice/line-trace.js';
import { formatMoney } from '../../domain/money/money.js';
import type { PricingTrace } from '../../domain/rating/pricing-trace.js';
import { coefficientOf } from './explained-windows.js';
import type {
  ExplainedCommitmentDto,
  ExplainedLateDto,
  ExplainedMaximumDto,
  ExplainedPricingDto,
  ExplainedProrationDto,
  ExplainedRoundingDto,
} from './explanation-dto.js';

/** How the price made the amount of a quantity: its steps, or its packages. */
export function pricingToDto({
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

/** What the commitment changed about the amount. */
export function commitmentToDto(trace: CommitmentTrace): ExplainedCommitmentDto {
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

/** What the maximum of the price changed about the amount. */
export function maximumToDto(trace: MaximumTrace): ExplainedMaximumDto {
  return {
    maximum: plain(trace.maximum),
    charged_before: plain(trace.chargedBefore),
    uncapped: plain(trace.uncapped),
  };
}

/** The part of a full period that is charged. */
export function prorationToDto(proration: Proration): ExplainedProrationDto {
  return {
    coefficient: coefficientOf(proration),
    covered_seconds: proration.coveredMs / 1000,
    full_seconds: proration.fullMs / 1000,
  };
}

/** The amount before and after rounding. */
export function roundingToDto({ exact, rounded, digits, mode }: Rounding): ExplainedRoundingDto {
  return { exact: plain(exact), rounded: plain(rounded.value), digits, mode };
}

/** What was charged of a period before a line of late usage. */
export function lateToDto(trace: LateTrace): ExplainedLateDto {
  return {
    invoice_id: trace.invoiceId,
    invoice_number: trace.invoiceNumber,
    quantity_before: plain(trace.quantityBefore),
    cost: formatMoney(trace.cost),
    charged_before: formatMoney(trace.chargedBefore),
    waiting: formatMoney(trace.waiting),
  };
}
