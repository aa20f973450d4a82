import { CORRECTION } from './correction-lifecycle.js';
import { CREDIT_NOTE, INVOICE, INVOICE_PAYMENT } from './invoice-lifecycle.js';
import type { Lifecycle } from './lifecycle.js';
import {
  EXPORT_RUN,
  GRANT_APPLICATION,
  PAYMENT,
  WALLET,
  WALLET_TRANSACTION,
} from './money-lifecycle.js';
import { ADDON_ASSOCIATION, PAUSE, SCHEDULE, SUBSCRIPTION } from './subscription-lifecycle.js';

/** Every life cycle, in the order of docs/domain.md 5. */
export const LIFECYCLES: readonly Lifecycle[] = [
  SUBSCRIPTION,
  INVOICE,
  INVOICE_PAYMENT,
  PAYMENT,
  CREDIT_NOTE,
  WALLET,
  WALLET_TRANSACTION,
  SCHEDULE,
  GRANT_APPLICATION,
  PAUSE,
  ADDON_ASSOCIATION,
  EXPORT_RUN,
  CORRECTION,
];

/** The names of all moves, each once. */
export const MOVE_NAMES: readonly string[] = [
  ...new Set(LIFECYCLES.flatMap(({ moves }) => Object.keys(moves))),
];
