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
    /** It is not decided yet: its lines are changed, and it is finalized or skipped when due. */
    draft: { DRAFT: true, FINALIZED: false, SKIPPED: false, VOIDED: false },
    /** It came to nothing: nobody owes anything. */
    free: { DRAFT: false, FINALIZED: false, SKIPPED: true, VOIDED: false },
    /** Its draft was finalized or skipped. */
    decided: { DRAFT: false, FINALIZED: true, SKIPPED: true, VOIDED: false },
    /** It counts for nothing any more; another one may take its place. */
    voided: { DRAFT: false, FINALIZED: false, SKIPPED: false, VOIDED: true },
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
  states: [
    ...(['INITIATED', 'PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED'] as const),
    ...(['PARTIALLY_REFUNDED', 'REFUNDED', 'VOIDED'] as const),
  ],
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
    /** It is paid less again: a payment or a note that had lowered what is open was voided. */
    reopen: {
      from: ['SUCCEEDED', 'OVERPAID'],
      to: ['PENDING', 'SUCCEEDED', 'OVERPAID'],
      done: 'open again',
      announces: 'invoice.update.payment',
    },
    /** Some of what was paid was given back. */
    refund: {
      from: ['PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED', 'PARTIALLY_REFUNDED'],
      to: ['PARTIALLY_REFUNDED', 'REFUNDED'],
      done: 'refunded',
      announces: 'invoice.update.payment',
    },
    /** Money came in, or a payment was voided, after some was given back (docs/domain.md 17.6). */
    settle_again: {
      from: ['PARTIALLY_REFUNDED', 'REFUNDED'],
      to: ['PENDING', 'SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'],
      done: 'settled again',
      announces: 'invoice.update.payment',
    },
    /** With the invoice; REFUNDED where something went back. */
    void: {
      from: [
        'INITIATED',
        'PENDING',
        'SUCCEEDED',
        'OVERPAID',
        'FAILED',
        'PARTIALLY_REFUNDED',
        'REFUNDED',
      ],
      to: ['VOIDED', 'REFUNDED'],
      done: 'voided',
    },
  },
  changeable: {
    INITIATED: [],
    PENDING: [],
    PROCESSING: [],
    SUCCEEDED: [],
    OVERPAID: [],
    FAILED: [],
    PARTIALLY_REFUNDED: [],
    REFUNDED: [],
    VOIDED: [],
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
  groups: {
    /** It waits to be finalized. */
    draft: { DRAFT: true, FINALIZED: false, VOIDED: false },
    /** Its lines hold their amounts of the invoice, so that no other note takes them. */
    counted: { DRAFT: true, FINALIZED: true, VOIDED: false },
    /** Its credit was given. */
    given: { DRAFT: false, FINALIZED: true, VOIDED: false },
  },
});
