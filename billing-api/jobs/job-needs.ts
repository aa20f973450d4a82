import type { ClickHouse } from '../../clickhouse/client.js';
import type { Log } from '../../runtime/log.js';
import type { BillingDatabase } from '../records/unit.js';

/** What the jobs of billing-api work with. */
export type JobNeeds = {
  readonly database: BillingDatabase;
  /** As the programs' user, who reads all environments. */
  readonly clickHouse: ClickHouse;
  readonly log: Log;
};
