import { guardMutation, type GuardMutation } from './guard-mutation.js';

const CLIENT = 'clickhouse/client.ts';
const SETTINGS = 'clickhouse/settings.ts';
const CLIENT_TEST = 'clickhouse/client.db.test.ts';
const COPIED_MEANWHILE_TEST = 'aggregator/backfill/copied-meanwhile.db.test.ts';
const APPENDED_FROM = 'aggregator/write/appended-from.ts';
const WRITER_TEST = 'aggregator/write/usage-writer.db.test.ts';

/** Guards of ClickHouse and PostgreSQL, and of the requests that bring their rows. */
export const STORE_MUTATIONS: readonly GuardMutation[] = [
  guardMutation(
    'a migration that copies rows does not keep owners out',
    'aggregator/copying-migration.db.test.ts',
    ['clickhouse/migrate.ts', 'await (copiesRows(statements)', 'await (statements.length < 0'],
  ),
  guardMutation(
    'a migration that puts tables in the place of others is not taken for one that copies',
    'clickhouse/guard-copies.test.ts',
    ['clickhouse/guard-copies.ts', '|RENAME\\s+TABLE|', '|'],
  ),
  guardMutation(
    // Held twice: one that was not overtaken would be noticed, and the copy refused.
    'the backfill of a paused aggregator goes on while rows are copied',
    COPIED_MEANWHILE_TEST,
    ['clickhouse/guard-copies.ts', '  await overtakeBackfills(session);', ''],
    ['clickhouse/guard-copies.ts', '  await refuseWhileBackfilling(session, work);', ''],
  ),
  guardMutation('a backfill may begin while rows are copied', COPIED_MEANWHILE_TEST, [
    'clickhouse/guard-copies.ts',
    'LOCK TABLE meter_backfills, aggregator_members',
    'LOCK TABLE aggregator_members',
  ]),
  guardMutation('an insert with more rows than a block is sent', CLIENT_TEST, [
    CLIENT,
    'rows <= this.blockRowsMax',
    'rows >= 0',
  ]),
  guardMutation('the blocks of an insert are as large as the server likes', CLIENT_TEST, [
    SETTINGS,
    `  max_insert_block_size_bytes: '0',
  input_format_max_block_size_bytes: '0',
  use_strict_insert_block_limits: 0,
`,
    '',
  ]),
  guardMutation(
    'an insert that something between repeats is applied twice',
    'aggregator/write/insert-batches.db.test.ts',
    [CLIENT, '`throwIf((${select}) > 0,', '`throwIf((${select}) < 0,'],
  ),
  guardMutation('the inspection reads every month', WRITER_TEST, [
    APPENDED_FROM,
    'return Math.max(0, (Math.floor(appendedAtMs / DAY_MS) - 1) * DAY_MS);',
    'return 0;',
  ]),
  guardMutation('the inspection leaves no day for clocks that differ', WRITER_TEST, [
    APPENDED_FROM,
    '(Math.floor(appendedAtMs / DAY_MS) - 1) * DAY_MS',
    'Math.floor(appendedAtMs / DAY_MS) * DAY_MS',
  ]),
  guardMutation('a batch of unknown age is looked for in the newest months only', WRITER_TEST, [
    APPENDED_FROM,
    'if (appendedAtMs === null) return 0;',
    'if (appendedAtMs === null) return Date.now();',
  ]),
  guardMutation('a node that only reads is not taken for an outage', 'sql/outage.test.ts', [
    'sql/sql-state.ts',
    '(08...|25006|40...',
    '(08...|40...',
  ]),
  guardMutation(
    'checkpoints are as durable as the server defaults to',
    'aggregator/checkpoints/durable-checkpoints.db.test.ts',
    [
      'sql/functions/commit_checkpoints_durably.sql',
      "IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN",
      'IF false THEN',
    ],
  ),
  guardMutation(
    'backfills of archived meters are made in the order in which they came',
    'aggregator/backfill/backfill-jobs.db.test.ts',
    ['sql/functions', "AND meters.status <> 'published')", "AND meters.status = 'none')"],
  ),
  guardMutation(
    'the body of a request whose client has left is waited for',
    'runtime/http/read-body.test.ts',
    [
      'runtime/http/read-body.ts',
      'if (request.destroyed)',
      'if (request.destroyed && options.bytesMax < 0)',
    ],
  ),
];
