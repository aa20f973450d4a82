import { guardMutation, type GuardMutation } from './guard-mutation.js';

const CUT = 'aggregator/fold/cut-batch.ts';
const INSPECTION = 'aggregator/protocol/check-inspection.ts';
const INSPECTION_TEST = 'aggregator/protocol/check-inspection.test.ts';
const MACHINE_TEST = 'aggregator/protocol/machine.test.ts';
const RECORD = 'contract/records/record-parts.ts';
const RECORD_TEST = 'contract/records/record-parts.test.ts';
const LOG_IN_USE = 'sql/log-in-use.ts';
const PREVIOUS_LOGS = 'aggregator/dedup/previous-logs.ts';

/** What a batch may hold, so that an insert is one block. */
const BATCHES: readonly GuardMutation[] = [
  guardMutation('a batch is not cut by its usage rows', 'aggregator/fold/fold-batch.test.ts', [
    CUT,
    'Math.max(events, usageRows) > rowsMax',
    'events > rowsMax',
  ]),
  guardMutation(
    'a batch is not cut by the rows of the other tables',
    'aggregator/fold/fold-batch.test.ts',
    [CUT, 'Math.max(events, usageRows) > rowsMax', 'usageRows > rowsMax'],
  ),
  guardMutation(
    'a batch is not cut by the characters of its usage',
    'aggregator/fold/usage-size.test.ts',
    [CUT, 'isFull || characters > charactersMax || isNextDay', 'isFull || isNextDay'],
  ),
  guardMutation(
    'a batch is not cut by what its expressions cost',
    'aggregator/fold/usage-size.test.ts',
    [CUT, 'isTooMany || cost > BATCH_COST_MAX', 'isTooMany'],
  ),
  guardMutation(
    'a batch may cross a day, and so be written into two table partitions',
    'aggregator/fold/fold-batch.test.ts',
    [CUT, 'characters > charactersMax || isNextDay', 'characters > charactersMax'],
  ),
  guardMutation(
    'a batch that is larger than an insert is written',
    'aggregator/protocol/batch-too-large.test.ts',
    [
      'aggregator/protocol/build-batch.ts',
      "if (isTooLarge(folded, settings)) return 'batch_too_large';",
      '',
    ],
  ),
  guardMutation('a record of more events than an insert can write is read', RECORD_TEST, [
    RECORD,
    'events <= BULK_EVENTS_MAX && fits',
    'fits',
  ]),
  guardMutation('a record of longer texts than an insert can write is read', RECORD_TEST, [
    RECORD,
    'events <= BULK_EVENTS_MAX && fits',
    'events <= BULK_EVENTS_MAX',
  ]),
  guardMutation(
    'ingest makes one record of events with long texts',
    'contract/records-of-events.test.ts',
    ['contract/records-of-events.ts', 'if (isSmall || length === 1)', 'if (isSmall || length > 0)'],
  ),
  guardMutation('a refused batch is not cut again by the rows of new meters', MACHINE_TEST, [
    'aggregator/protocol/prepare.ts',
    'draftBatch(draft.records, catalog, settings) ?? { ...draft, catalog }',
    '{ ...draft, catalog }',
  ]),
];

/** Logs that are replaced, and stores that do not fit the log. */
const LOGS: readonly GuardMutation[] = [
  guardMutation(
    'a program starts on another log than the one in use',
    'aggregator/ownership/other-log.db.test.ts',
    [LOG_IN_USE, 'if (inUse === log) return null;', "if (inUse !== '') return null;"],
  ),
  guardMutation(
    'ingest accepts events into another log than the one in use',
    'ingest/open-ingest.db.test.ts',
    ['ingest/open-ingest.ts', 'await useLog(database, logId);', ''],
  ),
  guardMutation(
    'a batch that was begun on a replaced log is left behind',
    'cli/operator/renew-log.db.test.ts',
    [LOG_IN_USE, 'if (begun !== null) throw refusalOfBegun(log, begun);', ''],
  ),
  guardMutation(
    'records that end with a lost log make no difference in the reconciliation',
    'cli/operator/close-lost-log.db.test.ts',
    [
      'aggregator/ownership/end-begun-batches.ts',
      'const accepted = lost === null ? [] : [await recordLoss(stores, range, lost)];',
      'if (lost !== null) await recordLoss(stores, range, lost);\n  const accepted = [] as const;',
    ],
  ),
  guardMutation(
    'every process holds all ids of replaced logs',
    'aggregator/dedup/previous-log-ids.test.ts',
    [PREVIOUS_LOGS, 'all.filter((index) => index % divisor === remainder)', 'all'],
  ),
  guardMutation(
    'the ids of a replaced log are those of the partition with the same number',
    'aggregator/dedup/previous-logs.test.ts',
    [PREVIOUS_LOGS, 'index % divisor === remainder', 'index === partition'],
  ),
  guardMutation(
    'ids of a replaced log with an unknown number of partitions are left out',
    'aggregator/dedup/previous-logs.test.ts',
    [
      PREVIOUS_LOGS,
      'return [...known, { otherThan: [present.log, ...previous.map(({ log }) => log)] }];',
      'return known;',
    ],
  ),
  guardMutation("an offset beyond the log's end is taken for one before its start", MACHINE_TEST, [
    INSPECTION,
    "return offset > logEnd ? 'log_shorter_than_checkpoint' : 'log_record_missing';",
    "return offset > logEnd ? 'log_start_beyond_checkpoint' : 'log_record_missing';",
  ]),
  guardMutation('a log that is shorter than the checkpoint is read on', INSPECTION_TEST, [
    INSPECTION,
    "if (inspection.logEnd < needed) return 'log_shorter_than_checkpoint';",
    '',
  ]),
  guardMutation('a log that lacks the end of an intended batch is read on', INSPECTION_TEST, [
    INSPECTION,
    'checkpoint.intent?.end ?? checkpoint.nextOffset',
    'checkpoint.nextOffset',
  ]),
  guardMutation('a log that begins above the checkpoint is read on', INSPECTION_TEST, [
    INSPECTION,
    "return inspection.logStart > checkpoint.nextOffset ? 'log_start_beyond_checkpoint' : null;",
    'return null;',
  ]),
  guardMutation('rows beyond the checkpoint are not looked at', INSPECTION_TEST, [
    INSPECTION,
    "if (inspection.rowsBeyond > 0) return 'rows_beyond_checkpoint';",
    '',
  ]),
  guardMutation('a last batch without its ids is taken for complete', INSPECTION_TEST, [
    INSPECTION,
    'found.ids !== rows || found.marker !== 1',
    'found.marker !== 1',
  ]),
];

/** Guards of the aggregator. */
export const OWNER_MUTATIONS: readonly GuardMutation[] = [
  ...BATCHES,
  ...LOGS,
  guardMutation(
    'a batch is refused for as long as meters are made',
    'aggregator/meters-without-pause.db.test.ts',
    ['aggregator/protocol/write.ts', 'isToBeHeld: wasRefused', 'isToBeHeld: false'],
  ),
];
