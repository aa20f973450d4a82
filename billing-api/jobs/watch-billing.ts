import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, MINUTE_MS } from '../../contract/instant.js';
import { defineJob } from '../../sql/jobs/job.js';
import { integerColumn } from '../../sql/columns.js';
import type { JobNeeds } from './job-needs.js';

const stateRow = z.object({
  due_renewals: integerColumn,
  renewal_wait: z.number(),
  due_finalizations: integerColumn,
  finalization_wait: z.number(),
  held_drafts: integerColumn,
  held_wait: z.number(),
  late_drafts: integerColumn,
  late_renewals: integerColumn,
  missing_invoices: integerColumn,
  number_gaps: integerColumn,
  late_overdues: integerColumn,
  future_periods: integerColumn,
  faults: z.array(z.string()),
});

/** As it is kept between runs, and shown. */
const keptState = z.object({
  due_renewals: z.number(),
  renewal_wait: z.number(),
  due_finalizations: z.number(),
  finalization_wait: z.number(),
  // Absent in what releases before 0077 kept, for a minute.
  held_drafts: z.number().default(0),
  held_wait: z.number().default(0),
  late_drafts: z.number(),
  late_renewals: z.number(),
  missing_invoices: z.number(),
  number_gaps: z.number(),
  // Absent in what releases before 0084 kept, for a minute.
  late_overdues: z.number().default(0),
  future_periods: z.number().default(0),
});

/**
 * Once a minute, notes what is due of the billing run, for how long, and what should never be
 * (docs/operations.md 16). That is: a draft, a renewal or an overdue notice that is an hour late; a
 * period without an invoice; a gap in a series of numbers; a running period that begins in the
 * future.
 */
export const WATCH_BILLING = defineJob({
  name: 'watch-billing',
  schedule: { everyMs: MINUTE_MS },
  input: z.object({}),
  state: keptState,
  inTransaction: async (tx, { run }, { log }: JobNeeds) => {
    const { faults, ...state } = await tx.one(sql.type(stateRow)`
      SELECT * FROM find_billing_state(${formatInstant(run.now)}::timestamptz)`);
    if (faults.length > 0)
      log.error({ ...state, faults }, 'the billing run has left something undone');
    return { state };
  },
  show: (state, { billingDue, billingWait, billingFaults }) => {
    billingDue.set({ kind: 'renewal' }, state.due_renewals);
    billingDue.set({ kind: 'finalization' }, state.due_finalizations);
    billingDue.set({ kind: 'held' }, state.held_drafts);
    billingWait.set({ kind: 'held' }, state.held_wait);
    billingWait.set({ kind: 'renewal' }, state.renewal_wait);
    billingWait.set({ kind: 'finalization' }, state.finalization_wait);
    billingFaults.set({ fault: 'late_draft' }, state.late_drafts);
    billingFaults.set({ fault: 'late_renewal' }, state.late_renewals);
    billingFaults.set({ fault: 'missing_invoice' }, state.missing_invoices);
    billingFaults.set({ fault: 'number_gap' }, state.number_gaps);
    billingFaults.set({ fault: 'late_overdue' }, state.late_overdues);
    billingFaults.set({ fault: 'future_period' }, state.future_periods);
  },
});
