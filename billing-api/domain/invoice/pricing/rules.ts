import { adjustLines } from './adjust-lines.js';
import { buildInvoice, priceInvoice } from './build-invoice.js';
import { payInvoice } from './pay-invoice.js';

/** How inputs become an invoice, by one version of the rules. Reads nothing. */
export type BillingRules = {
  readonly version: number;
  readonly buildInvoice: typeof buildInvoice;
  readonly priceInvoice: typeof priceInvoice;
  readonly adjustLines: typeof adjustLines;
  readonly payInvoice: typeof payInvoice;
};

/**
 * The rules of every version that this release knows, the newest last. A version is added when the
 * same inputs would give other bytes. The rules before it stay, since invoices and drafts that are
 * stored are verified and finished by the rules that computed them (docs/domain.md 13.1).
 */
export const BILLING_RULES: [BillingRules, ...BillingRules[]] = [
  { version: 1, buildInvoice, priceInvoice, adjustLines, payInvoice },
];

/** The rules by which new invoices are computed. */
export function currentRules(): BillingRules {
  const [first, ...later] = BILLING_RULES;
  return later.at(-1) ?? first;
}

/** The rules of a version. @throws TypeError for one that this release does not know. */
export function rulesOf(version: number): BillingRules {
  const rules = BILLING_RULES.find((one) => one.version === version);
  if (rules !== undefined) return rules;
  throw new TypeError(`this release lacks version ${version} of the billing rules`);
}
