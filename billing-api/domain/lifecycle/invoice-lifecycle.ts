import { defineLifecycle } from './lifecycle.js';

/** What PUT may change of an invoice that is no draft any more (docs/http.md 6). */
const OF_ANY_INVOICE = ['due_date', 'invoice_pdf_url', 'metadata'] as const;

/** Invoices (docs/domain.md 5.2). */
export const INVOICE = defineLifecycle({
  subject: 'invoice',
  states: ['DRAFT', 'FINALIZED', 'SKIPPED', 'VOIDED'],
  initial: ['DRAFT'],
  moves: {
    finalize: {
      from: ['DRAFT'],
      to: ['FINALIZED'],
      done: 'finalized',
      announces: 'invoice.update.finalized',
    },
    skip: { from: ['DRAFT'], to: ['SKIPPED'], done: 'skipped' },
    reopen: { from: ['SKIPPED'], to: ['DRAFT'], done: 'a draft again' },
    void: {
      from: ['DRAFT', 'FINALIZED', 'SKIPPED'],
      to: ['VOIDED'],
      done: 'voided',
      announces: 'invoice.update.voided',
    },
  },
  changeable: { DRAFT: 'all', FINALIZED: OF_ANY_INVOICE, SKIPPED: [], VOIDED: [] },
  groups: {
    /** It is computed anew when its usage or its records change. */
    computed: { DRAFT: true, FINALIZED: false, SKIPPED: true, VOIDED: false },
    /** Its lines, coupons and commitments count for other invoices (docs/domain.md 13.5, 14.4). */
    counted: { DRAFT: true, FINALIZED: true, SKIPPED: false, VOIDED: false },
    /** Its amount is claimed: it is paid, credited, refunded and chased (docs/domain.md 17). */
    claimed: { DRAFT: false, FINALIZED: true, SKIPPED: false, VOIDED: false },
  },
});

/** The payment status of an invoice (docs/domain.md 5.3). */
export const INVOICE_PAYMENT = defineLifecycle({
  subject: 'payment of the invoice',
  states: ['INITIATED', 'PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED'],
  initial: ['INITIATED'],
  moves: {
    expect: {
      from: ['INITIATED', 'PENDING', 'PROCESSING', 'FAILED'],
      to: ['PENDING'],
      done: 'expected',
      announces: 'invoice.update.payment',
    },
    process: {
      from: ['PENDING'],
      to: ['PROCESSING'],
      done: 'in process',
      announces: 'invoice.update.payment',
    },
    succeed: {
      from: ['INITIATED', 'PENDING', 'PROCESSING', 'FAILED', 'SUCCEEDED'],
      to: ['SUCCEEDED'],
      done: 'recorded as succeeded',
      announces: 'invoice.update.payment',
    },
    overpay: {
      from: ['PENDING', 'PROCESSING', 'FAILED', 'SUCCEEDED', 'OVERPAID'],
      to: ['OVERPAID'],
      done: 'recorded as overpaid',
      announces: 'invoice.update.payment',
    },
    fail: {
      from: ['PENDING', 'PROCESSING', 'FAILED'],
      to: ['FAILED'],
      done: 'recorded as failed',
      announces: 'invoice.update.payment',
    },
  },
  changeable: {
    INITIATED: [],
    PENDING: [],
    PROCESSING: [],
    SUCCEEDED: [],
    OVERPAID: [],
    FAILED: [],
  },
});

/** Credit notes (docs/domain.md 5.4). */
export const CREDIT_NOTE = defineLifecycle({
  subject: 'credit note',
  states: ['DRAFT', 'FINALIZED', 'VOIDED'],
  initial: ['DRAFT'],
  moves: {
    finalize: {
      from: ['DRAFT'],
      to: ['FINALIZED'],
      done: 'finalized',
      announces: 'credit_note.updated',
    },
    /** A finalized refund cannot be voided, which the process that voids refuses by itself. */
    void: {
      from: ['DRAFT', 'FINALIZED'],
      to: ['VOIDED'],
      done: 'voided',
      announces: 'credit_note.updated',
    },
  },
  changeable: { DRAFT: 'all', FINALIZED: ['metadata'], VOIDED: [] },
});
