import type { Sample } from './sample-requests.js';

/** Requests about stored invoices. */
export const STORED_INVOICES: Readonly<Record<string, Sample>> = {
  CreateInvoice: (ids) => ({
    body: {
      customer_id: ids.customer,
      currency: 'eur',
      subtotal: '150',
      total: '150',
      amount_due: '150',
      line_items: [{ display_name: 'Workshop', amount: '150', quantity: '2' }],
      coupons: [ids.coupon_code],
      tax_rates: [ids.tax_rate_code],
      description: 'Workshop in January',
    },
  }),
  SearchInvoices: (ids) => ({ body: { subscription_id: ids.subscription } }),
  ListLeftovers: () => ({ query: { limit: '1' } }),
  ListLateUsage: (ids) => ({ query: { subscription_id: ids.subscription, limit: '1' } }),
  ReadInvoice: (ids) => ({ path: { id: ids.recalculated }, query: { group_by: 'source' } }),
  ChangeInvoice: (ids) => ({
    path: { id: ids.invoice },
    body: { due_date: '2026-02-15T00:00:00Z', metadata: { order: '4711' } },
  }),
  FinalizeInvoice: (ids) => ({ path: { id: ids.draft } }),
  RecomputeInvoice: (ids) => ({ path: { id: ids.spare_draft } }),
  VoidInvoice: (ids) => ({ path: { id: ids.void_draft }, body: { metadata: { why: 'test' } } }),
  RecalculateInvoice: (ids) => ({ path: { id: ids.voided } }),
  PrintInvoice: (ids) => ({ path: { id: ids.invoice } }),
  DownloadInvoiceLines: (ids) => ({ path: { id: ids.invoice } }),
  BundleInvoice: (ids) => ({ path: { id: ids.invoice } }),
  VerifyInvoice: (ids) => ({ path: { id: ids.invoice } }),
  ExplainInvoiceLine: (ids) => ({ path: { id: ids.edited_draft, line_id: ids.draft_line } }),
  ListInvoiceLineEvents: (ids) => ({
    path: { id: ids.recalculated, line_id: ids.used_line },
    query: { limit: '1' },
  }),
  DiffInvoice: (ids) => ({ path: { id: ids.recalculated } }),
  ReadWorkflow: (ids) => ({ path: { workflow_id: ids.workflow } }),
  SearchWorkflows: (ids) => ({ body: { entity_id: ids.recalculated } }),
  TriggerCommunication: (ids) => ({ path: { id: ids.invoice } }),
  AddInvoiceLine: (ids) => ({
    path: { id: ids.edited_draft },
    body: { display_name: 'Goodwill', amount: '12.50' },
  }),
  ChangeInvoiceLine: (ids) => ({
    path: { id: ids.edited_draft, line_id: ids.draft_line },
    body: { amount: '40' },
  }),
  RemoveInvoiceLine: (ids) => ({
    path: { id: ids.edited_draft, line_id: ids.spare_draft_line },
  }),
};
