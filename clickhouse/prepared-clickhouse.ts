import { DependencyError } from '../runtime/failure.js';
import { assertApplied, unprepared } from '../runtime/migrations.js';
import type { ClickHouse } from './client.js';
import { serverCodeOf } from './clickhouse-failure.js';
import { APPLIED_MIGRATIONS, appliedMigration } from './migrate.js';

/** Codes of a server without the table, or without the database. */
const NO_TABLE = ['60', '81'];

/**
 * Resolves when every migration of this release is applied; later ones may be, too.
 * @throws DependencyError that names the remedy otherwise, or when ClickHouse fails;
 *   MigrationRefused when a file differs from the one that was applied.
 */
export async function assertClickHouseMigrated(
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<void> {
  const applied = await clickhouse
    .query(APPLIED_MIGRATIONS, {}, appliedMigration)
    .catch((error: unknown) => {
      const code = error instanceof Error ? serverCodeOf(error.cause) : null;
      if (NO_TABLE.includes(code ?? ''))
        throw unprepared('clickhouse', 'has no tables of Minutebook yet', error);
      throw error;
    });
  assertApplied('clickhouse', applied);
}

/**
 * As `assertClickHouseMigrated`, for a program that starts: one that finds ClickHouse away starts
 * all the same, and its readiness tells.
 */
export async function refuseUnmigratedClickHouse(
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<void> {
  try {
    await assertClickHouseMigrated(clickhouse);
  } catch (error) {
    if (!(error instanceof DependencyError && error.isRetryable)) throw error;
  }
}
