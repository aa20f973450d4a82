import { defineLifecycle } from './lifecycle.js';

/** Payment records (docs/domain.md 5.3). */
export const PAYMENT = defineLifecycle({
  subject: 'payment',
  states: [
    'INITIATED',
    'PENDING',
    'PROCESSING',
    'SUCCEEDED',
    'OVERPAID',
    'FAILED',
    'PARTIALLY_REFUNDED',
    'REFUNDED',
    'VOIDED',
  ],
  initial: ['INITIATED', 'PENDING'],
  moves: {
    expect: {
      from: ['INITIATED', 'PENDING'],
      to: ['PENDING'],
      done: 'expected',
      announces: 'payment.pending',
    },
    process: {
      from: ['INITIATED', 'PENDING', 'PROCESSING'],
      to: ['PROCESSING'],
      done: 'in process',
      announces: 'payment.updated',
    },
    succeed: {
      from: ['INITIATED', 'PENDING', 'PROCESSING', 'FAILED', 'SUCCEEDED'],
      to: ['SUCCEEDED'],
      done: 'recorded as succeeded',
      announces: 'payment.success',
    },
    overpay: {
      from: ['INITIATED', 'PENDING', 'PROCESSING', 'FAILED', 'SUCCEEDED', 'OVERPAID'],
      to: ['OVERPAID'],
      done: 'recorded as overpaid',
      announces: 'payment.success',
    },
    fail: {
      from: ['INITIATED', 'PENDING', 'PROCESSING'],
      to: ['FAILED'],
      done: 'recorded as failed',
      announces: 'payment.failed',
    },
    refund_in_part: {
      from: ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED'],
      to: ['PARTIALLY_REFUNDED'],
      done: 'refunded in part',
      announces: 'payment.updated',
    },
    refund: {
      from: ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED'],
      to: ['REFUNDED'],
      done: 'refunded',
      announces: 'payment.updated',
    },
    void: {
      from: ['SUCCEEDED'],
      to: ['VOIDED'],
      done: 'voided',
      announces: 'payment.updated',
    },
  },
  changeable: {
    INITIATED: ['error_message', 'metadata'],
    PENDING: ['error_message', 'metadata'],
    PROCESSING: ['error_message', 'metadata'],
    SUCCEEDED: ['metadata'],
    OVERPAID: ['metadata'],
    FAILED: ['metadata'],
    PARTIALLY_REFUNDED: ['metadata'],
    REFUNDED: ['metadata'],
    VOIDED: [],
  },
});

/** Wallets (docs/domain.md 5.4). */
export const WALLET = defineLifecycle({
  subject: 'wallet',
  states: ['active', 'frozen', 'closed'],
  initial: ['active'],
  moves: {
    freeze: { from: ['active'], to: ['frozen'], done: 'frozen', announces: 'wallet.updated' },
    unfreeze: { from: ['frozen'], to: ['active'], done: 'unfrozen', announces: 'wallet.updated' },
    convert: {
      from: ['active'],
      to: ['closed'],
      done: 'converted',
      announces: 'wallet.terminated',
    },
    terminate: {
      from: ['active', 'frozen'],
      to: ['closed'],
      done: 'terminated',
      announces: 'wallet.terminated',
    },
  },
  changeable: { active: 'all', frozen: 'all', closed: [] },
  groups: {
    /** It takes top-ups and debits and pays invoices. */
    usable: { active: true, frozen: false, closed: false },
    /** It keeps its customer from being archived. */
    open: { active: true, frozen: true, closed: false },
  },
});

/** Movements of a wallet that may wait for a payment (docs/domain.md 5.4). */
export const WALLET_TRANSACTION = defineLifecycle({
  subject: 'wallet transaction',
  states: ['pending', 'completed', 'failed'],
  initial: ['pending', 'completed'],
  moves: {
    complete: {
      from: ['pending'],
      to: ['completed'],
      done: 'completed',
      announces: 'wallet.transaction.updated',
    },
    fail: {
      from: ['pending'],
      to: ['failed'],
      done: 'recorded as failed',
      announces: 'wallet.transaction.updated',
    },
  },
  changeable: { pending: ['metadata'], completed: [], failed: [] },
});

/** One application of a credit grant to a wallet (docs/domain.md 5.4). */
export const GRANT_APPLICATION = defineLifecycle({
  subject: 'grant application',
  states: ['pending', 'applied', 'failed', 'skipped', 'cancelled'],
  initial: ['pending'],
  moves: {
    apply: { from: ['pending'], to: ['applied'], done: 'applied' },
    fail: { from: ['pending'], to: ['failed'], done: 'recorded as failed' },
    retry: { from: ['failed'], to: ['pending'], done: 'tried again' },
    skip: { from: ['pending'], to: ['skipped'], done: 'skipped' },
    cancel: { from: ['pending'], to: ['cancelled'], done: 'cancelled' },
  },
  changeable: { pending: [], applied: [], failed: [], skipped: [], cancelled: [] },
});

/** One run of an export (docs/domain.md 5.4). */
export const EXPORT_RUN = defineLifecycle({
  subject: 'export run',
  states: ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'],
  initial: ['PENDING'],
  moves: {
    begin: { from: ['PENDING'], to: ['PROCESSING'], done: 'begun' },
    complete: { from: ['PROCESSING'], to: ['COMPLETED'], done: 'completed' },
    fail: { from: ['PROCESSING'], to: ['FAILED'], done: 'recorded as failed' },
  },
  changeable: { PENDING: [], PROCESSING: [], COMPLETED: [], FAILED: [] },
});
