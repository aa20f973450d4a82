import type { Client } from 'pg';
import { z } from 'zod';
import { MEMBER_ALIVE_SECONDS } from '../sql/aggregator-member.js';
import { MigrationRefused } from '../runtime/migrations.js';
import type { ClickHouse } from './client.js';
import { endQueries } from './end-queries.js';

/** Statements that copy rows, or put a table with copied rows in the place of another. */
const COPIES =
  /^(INSERT\s+INTO|EXCHANGE\s+TABLES|RENAME\s+TABLE|ALTER\s+TABLE\b[\s\S]*\b(ATTACH|REPLACE|MOVE)\s+PARTITION)\b/i;
const COMMENTS = /--[^\n]*|\/\*[\s\S]*?\*\//g;

const LOCK_TIMEOUT_MS = 10_000;

/** Whether rows that are written while the statements run could vanish. */
export function copiesRows(statements: readonly string[]): boolean {
  return statements.some((statement) => COPIES.test(statement.replaceAll(COMMENTS, '').trim()));
}

/** Whether aggregators can work with this database: its tables have been made. */
async function hasCheckpoints(session: Client): Promise<boolean> {
  const found = await session.query(
    `SELECT FROM pg_class WHERE oid = to_regclass('aggregator_checkpoints')`,
  );
  return found.rowCount !== 0;
}

/** @throws MigrationRefused. */
async function refuseWhileAggregatorsLive(session: Client, work: string): Promise<void> {
  const alive = await session.query(
    'SELECT FROM aggregator_members WHERE heartbeat_at >= now() - make_interval(secs => $1)',
    [MEMBER_ALIVE_SECONDS],
  );
  if (alive.rowCount === 0) return;
  throw new MigrationRefused(
    `${work} copies rows, and ${alive.rowCount} of the aggregators still run: what they write ` +
      'meanwhile would be lost. Stop every aggregator, wait ' +
      `${MEMBER_ALIVE_SECONDS} seconds and run the command again.`,
  );
}

/**
 * Overtakes the backfills of processes that were paused or cut off, as another attempt would: they
 * may go on to write, but what they write is never shown. It is committed before anything is
 * copied, so that it holds even if this connection breaks off later.
 */
async function overtakeBackfills(session: Client): Promise<void> {
  await session.query(
    `UPDATE meter_backfills SET attempts = attempts + 1, claimed_until = NULL
     WHERE status = 'running' AND claimed_until IS NOT NULL`,
  );
}

/** @throws MigrationRefused when an attempt began after the others were overtaken. */
async function refuseWhileBackfilling(session: Client, work: string): Promise<void> {
  const begun = await session.query(
    "SELECT FROM meter_backfills WHERE status = 'running' AND claimed_until IS NOT NULL",
  );
  if (begun.rowCount === 0) return;
  throw new MigrationRefused(
    `${work} copies rows, and the backfill of a meter began meanwhile: an aggregator was paused and ` +
      'goes on. Stop every aggregator, and run the command again.',
  );
}

/**
 * Locks what an aggregator must change before it writes, until the transaction ends: one that
 * starts meanwhile waits. The order of the locks is that of sql/migrations/0005_meter_versions.sql.
 * @throws MigrationRefused while an aggregator lives.
 * @param work what copies rows, as the refusal names it.
 */
export async function keepOwnersOut(session: Client, work: string): Promise<void> {
  if (!(await hasCheckpoints(session))) return;
  await session.query(
    'LOCK TABLE meter_backfills, aggregator_members, aggregator_checkpoints IN EXCLUSIVE MODE',
  );
  await refuseWhileAggregatorsLive(session, work);
  await refuseWhileBackfilling(session, work);
}

/**
 * An erasure that has begun to remove may still be removing rows in ClickHouse, and copies would
 * bring them back. @throws MigrationRefused.
 */
async function refuseWhileErasing(session: Client, work: string): Promise<void> {
  const known = await session.query(
    `SELECT FROM pg_proc WHERE proname = 'list_environments_with_erasures'`,
  );
  if (known.rowCount === 0) return;
  const erasing = await session.query("SELECT FROM list_environments_with_erasures('infinity')");
  if (erasing.rowCount === 0) return;
  throw new MigrationRefused(
    `${work} copies rows, and events are being erased, or an erasure was cut short: wait for it, ` +
      'or run `minutebook customers erase` again (docs/operations.md 14), and then the command.',
  );
}

/** Refuses inserts of owners that were paused, and ends those that run. */
async function endInserts(clickhouse: ClickHouse): Promise<void> {
  const [gate] = await clickhouse.query('EXISTS TABLE ingest_gate_v1', {}, z.unknown());
  if (!z.object({ result: z.literal(1) }).safeParse(gate).success) return;
  await clickhouse.command(
    `INSERT INTO ingest_gate_v1 (log_id, log_partition, epoch)
     SELECT log_id, log_partition, max(epoch) + 1 FROM ingest_gate_v1
     GROUP BY log_id, log_partition`,
  );
  const condition = "startsWith(query_id, 'mb:') AND current_database = currentDatabase()";
  await endQueries(clickhouse, { condition, parameters: {} });
}

/** @throws MigrationRefused while an aggregator lives, whose backfills must not be disturbed. */
async function endPausedBackfills(session: Client, work: string): Promise<void> {
  if (!(await hasCheckpoints(session))) return;
  await refuseWhileAggregatorsLive(session, work);
  await overtakeBackfills(session);
}

/**
 * Copies rows so that no aggregator can write meanwhile (docs/internals/architecture.md 3.4): none
 * may live, none can take a partition or begin a backfill before the end, and what is still on its
 * way is refused or never shown. Without a session the caller must be the only one.
 * @param work what copies rows, as the refusal names it: `migration 0003_ids.sql`, `a backup`.
 * @throws MigrationRefused while an aggregator lives, or an erasure is not finished.
 */
export async function withoutOwners<T>(
  engines: { readonly session: Client | null; readonly clickhouse: ClickHouse },
  work: string,
  copy: () => Promise<T>,
): Promise<T> {
  const { session, clickhouse } = engines;
  if (session === null) return copy();
  await endPausedBackfills(session, work);
  await session.query('BEGIN');
  try {
    await session.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await session.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await keepOwnersOut(session, work);
    await refuseWhileErasing(session, work);
    await endInserts(clickhouse);
    return await copy();
  } finally {
    // A session that was lost has lost its lock; what failed before matters more.
    await session.query('ROLLBACK').catch(() => undefined);
  }
}
