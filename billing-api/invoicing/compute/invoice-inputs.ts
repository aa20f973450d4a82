import type { InvoiceInputs, LatePeriod } from '../../domain/invoice/invoice.js';
import { couponFrom, taxFrom } from './adjustment-inputs.js';
import { segmentsBefore } from './invoice-purpose.js';
import type { InvoiceQuery } from './invoice-query.js';
import type { BillingRecords } from './load-billing-records.js';
import type { InvoicePlan } from './plan-invoice.js';
import type { UsageOfLines } from './read-line-usage.js';

/** What is known of an invoice when all of it has been read. */
type InvoiceFacts = {
  readonly plan: InvoicePlan;
  readonly usage: UsageOfLines;
  readonly query: InvoiceQuery;
  readonly records: Pick<BillingRecords, 'taxes' | 'payer' | 'usageOf'>;
  readonly children?: InvoiceInputs['children'];
  readonly late: readonly LatePeriod[];
};

/** Members that only invoices with late usage have, so that the others are stored as ever. */
function lateMembers({ chargedLate = [] }: InvoiceQuery, late: readonly LatePeriod[]) {
  return {
    ...(late.length === 0 ? {} : { late }),
    ...(chargedLate.length === 0 ? {} : { chargedLate }),
  };
}

/** Everything that decides an invoice, so that it can be computed and stored. Reads nothing. */
export function invoiceInputsOf({
  plan,
  usage,
  query,
  records,
  children = [],
  late,
}: InvoiceFacts): InvoiceInputs {
  const { couponApplicationCounts: counts, priorCommitments, wallets, dueDays } = query.purpose;
  const { unused = [], segmentsBefore: charged = [] } = query.purpose;
  const earlierSegments = segmentsBefore(query.loaded.terms, query.period, charged);
  const { coupons, lineItems } = query.loaded.related;
  const { payer, usageOf } = records;
  const isOwnUsage = usageOf.every(({ customerId, spans }) => {
    return customerId === payer.id && spans === undefined;
  });
  return {
    ...plan.inputs,
    usage,
    asOfMs: query.now,
    priorCommitments,
    coupons: coupons.map((coupon) => couponFrom(coupon, lineItems, counts)),
    taxes: records.taxes.map(taxFrom),
    wallets,
    dueDays,
    hideZeroCharges: query.hideZeroCharges,
    ...(unused.length === 0 ? {} : { unused }),
    ...(unused.length > 0 && query.purpose.referencePoint === 'period_start'
      ? { scalesFixedCoupons: true as const }
      : {}),
    ...(earlierSegments.length === 0 ? {} : { earlierSegments }),
    ...(isOwnUsage ? {} : { usageOf }),
    ...(children.length === 0 ? {} : { children }),
    ...lateMembers(query, late),
  };
}
