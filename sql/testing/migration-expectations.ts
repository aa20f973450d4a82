import type { MigrationExpectations } from '../../runtime/testing/expected-tables.js';

/** What the migrations after release 1 do to its rows. One that is not listed changes none. */
export const SQL_MIGRATION_EXPECTATIONS: MigrationExpectations = {
  '0006_plan_versions.sql': { addedColumns: { plans: { version: '1' } } },
  '0016_last_batch_append.sql': {
    addedColumns: { aggregator_checkpoints: { last_batch_appended_at: null } },
  },
};
