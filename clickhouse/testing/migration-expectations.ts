import type { MigrationExpectations } from '../../runtime/testing/expected-tables.js';

/** What the migrations after release 1 do to its rows. One that is not listed changes none. */
export const CLICKHOUSE_MIGRATION_EXPECTATIONS: MigrationExpectations = {};
