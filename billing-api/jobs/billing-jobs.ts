import { ADVANCE_TEST_CLOCK } from './advance-test-clock.js';
import { ANCHOR_LEDGERS } from './anchor-ledgers.js';
import { BILL_ENVIRONMENT, BILL_ONE, FINALIZE_ONE } from './bill-environment.js';
import { BILL_ENVIRONMENTS } from './bill-environments.js';
import { CANCEL_OVERDUE_ONE } from './cancel-overdue.js';
import { INVOICE_THRESHOLD_ONE } from './invoice-thresholds.js';
import { CORRECTION_JOBS } from './correct-events.js';
import { DUE_STEP_JOBS } from './due-steps.js';
import { DELIVER_WEBHOOKS, QUEUE_WEBHOOKS } from './deliver-webhooks.js';
import { EXPORT_ONE_WINDOW, QUEUE_EXPORTS } from './export-jobs.js';
import {
  RECOMPUTE_JOBS,
  SPEND_ALERT_JOBS,
  THRESHOLD_JOBS,
  WALLET_ALERT_JOBS,
} from './page-jobs.js';
import { LOOK_FOR_LATE_USAGE } from './look-for-late-usage.js';
import { LOOK_FOR_SIGNALS, QUEUE_LOOKS } from './look-for-signals.js';
import { RECALCULATE } from './recalculate-invoice.js';
import { RECONCILE_USAGE } from './reconcile-usage.js';
import { REMOVE_EXPIRED_KEYS } from './remove-expired-keys.js';
import { SYNC_ONE_INVOICE } from './sync-invoices.js';
import { TAKE_BY_GATEWAY } from './take-payments.js';
import { SYNC_PLAN_SUBSCRIPTIONS } from './sync-plan.js';
import { TELL_REJECTED } from './tell-rejected.js';
import { WATCH_BILLING } from './watch-billing.js';
import { WATCH_METER_WAITS } from './watch-meter-waits.js';

/** The jobs of billing-api, which any number of its processes carry out. */
export const BILLING_JOBS = [
  REMOVE_EXPIRED_KEYS,
  RECONCILE_USAGE,
  WATCH_METER_WAITS,
  WATCH_BILLING,
  BILL_ENVIRONMENTS,
  BILL_ENVIRONMENT,
  BILL_ONE,
  FINALIZE_ONE,
  CANCEL_OVERDUE_ONE,
  INVOICE_THRESHOLD_ONE,
  ...DUE_STEP_JOBS,
  ADVANCE_TEST_CLOCK,
  ...THRESHOLD_JOBS,
  ...RECOMPUTE_JOBS,
  ...WALLET_ALERT_JOBS,
  ...SPEND_ALERT_JOBS,
  LOOK_FOR_LATE_USAGE,
  RECALCULATE,
  SYNC_PLAN_SUBSCRIPTIONS,
  QUEUE_EXPORTS,
  EXPORT_ONE_WINDOW,
  QUEUE_WEBHOOKS,
  DELIVER_WEBHOOKS,
  TAKE_BY_GATEWAY,
  QUEUE_LOOKS,
  LOOK_FOR_SIGNALS,
  SYNC_ONE_INVOICE,
  TELL_REJECTED,
  ANCHOR_LEDGERS,
  ...CORRECTION_JOBS,
];
