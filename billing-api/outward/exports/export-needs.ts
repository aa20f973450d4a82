import type { ClickHouse } from '../../../clickhouse/client.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { OutboundAgents } from '../../../runtime/guarded-agents.js';
import type { SecretBox } from '../../../runtime/secret-box.js';
import type { BillingDependencies } from '../../invoicing/drafts/compute-tasks.js';

/** What exporting needs: what is exported, and how it gets out. */
export type ExportNeeds = BillingDependencies & {
  readonly clickHouse: ClickHouse;
  /** Null where no key is configured: then there are no connections either. */
  readonly secretBox: SecretBox | null;
  readonly outbound: OutboundAgents;
};

/** The cells of a row; null is an empty one. */
export type Row = readonly (string | null)[];

/** The cells of a row in the order of the columns of its file. */
export function rowOf<Name extends string>(
  columns: readonly Name[],
  cells: Readonly<Record<NoInfer<Name>, string | null>>,
): Row {
  return columns.map((name) => cells[name]);
}

/** A file: its header, and its rows page by page. */
export type ExportedFile = {
  readonly header: readonly string[];
  readonly pages: AsyncIterable<readonly Row[]>;
  /** What its manifest tells of the rows (docs/domain.md 33.7). */
  readonly told: {
    /** Columns that are added up. */
    readonly counts?: readonly string[];
    /** Columns of money, which are added up by the column `currency`. */
    readonly amounts?: readonly string[];
    /** The column whose instant makes a row late when it lies before the window; null for none. */
    readonly since: string | null;
  };
};

/** Whether a row tells of a time before the window of its file. */
export type IsLate = (row: Row) => boolean;

export function latenessOf({ header, told: { since } }: ExportedFile, startMs: InstantMs): IsLate {
  if (since === null) return () => false;
  const place = header.indexOf(since);
  return (row) => {
    const text = row[place];
    return typeof text === 'string' && Date.parse(text) < startMs;
  };
}

/** Rows that are read at once. */
export const ROWS_AT_ONCE = 2000;
