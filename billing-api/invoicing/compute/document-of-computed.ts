import { mustGet } from '../../../runtime/failure.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { writeDocument } from '../../documents/write-document.js';
import type { ComputedInvoice } from './compute-invoice.js';
import { childrenOf } from './load-billing-records.js';
import type { InvoiceQuery } from './invoice-query.js';

/** The document of a computed invoice, with the records that were read for it as its parties. */
export function documentOfComputed(computed: ComputedInvoice<InvoiceQuery>): InvoiceDocument {
  const { query, payer, taxes } = computed;
  const { subscription, related } = query.loaded;
  const plan = mustGet(related.plans, subscription.plan_id, 'the plan of the subscription');
  const { billingReason } = query.purpose;
  const ofChildren = childrenOf(query).flatMap(({ loaded }) => loaded.related.coupons);
  const coupons = [...related.coupons, ...ofChildren];
  const parties = { customer: payer, subscription, plan, coupons, taxes };
  return writeDocument({ ...computed, billingReason }, parties);
}
