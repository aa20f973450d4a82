import type { Decimal } from '../../../../contract/number/decimal.js';

/** What decides whether an invoice has a charge. */
export type ZeroTested = {
  readonly invoiceType: 'SUBSCRIPTION' | 'ONE_OFF' | 'CREDIT';
  readonly billingReason: string;
  readonly amounts: readonly Decimal[];
};

/**
 * Whether an invoice is skipped because it charges nothing: it is of a subscription, was not made
 * for the start of a trial, and no line has an amount other than zero (docs/domain.md 13.1.3).
 */
export function isSkipped({ invoiceType, billingReason, amounts }: ZeroTested): boolean {
  if (invoiceType !== 'SUBSCRIPTION' || billingReason === 'SUBSCRIPTION_TRIAL_START') return false;
  return amounts.every((amount) => amount.isZero());
}
