import type { ClickHouse } from '../../../clickhouse/client.js';
import type { OutboundAgents } from '../../../runtime/guarded-agents.js';
import type { SecretBox } from '../../../runtime/secret-box.js';
import type { BillingDependencies } from '../stored/compute-tasks.js';

/** What exporting needs: what is exported, and how it gets out. */
export type ExportNeeds = BillingDependencies & {
  readonly clickHouse: ClickHouse;
  /** Null where no key is configured: then there are no connections either. */
  readonly secretBox: SecretBox | null;
  readonly outbound: OutboundAgents;
};

/** The cells of a row; null is an empty one. */
export type Row = readonly (string | null)[];

/** Rows that are read at once. */
export const ROWS_AT_ONCE = 2000;
