import type { EventPathMutation } from './event-path-mutation.js';

/** What is kept of records that count nothing, and what the books say of them. */
export const AUDIT_MUTATIONS: readonly EventPathMutation[] = [
  {
    name: 'malformed records are dropped',
    scenario: 'malformed records in the log during faults',
    edits: [
      {
        path: 'dist/aggregator/fold/fold-batch.js',
        from: 'deadLetters: deadLettersOf(records)',
        to: 'deadLetters: []',
      },
    ],
  },
  {
    name: 'the books of an hour forget duplicates',
    scenario: 'invoice after faults',
    edits: [
      {
        path: 'dist/billing-api/events/reconciliation/read-reconciliation.js',
        from: 'duplicate: copies, conflict: conflicts',
        to: 'conflict: conflicts',
      },
    ],
  },
];
