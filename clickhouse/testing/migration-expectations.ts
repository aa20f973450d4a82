import type { MigrationExpectations } from '../../runtime/testing/expected-tables.js';

/** What the migrations after release 1 do to its rows. One that is not listed changes none. */
export const CLICKHOUSE_MIGRATION_EXPECTATIONS: MigrationExpectations = {
  '0002_least_value.sql': { addedColumns: { usage_minute_v1: { value_min: null } } },
};
