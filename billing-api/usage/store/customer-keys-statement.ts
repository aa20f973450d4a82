import { eventBranchesOf, eventPieces } from './event-branch.js';
import { minuteBranchesOf, minutePieces } from './minute-branch.js';
import { fillTemplate, readTemplate, type Bindings } from './sql-template.js';
import { StatementBuilder } from './statement-builder.js';
import type { StatementPart } from './statement-parts.js';
import type { PlacedQuery } from './usage-branch.js';
import { CUSTOMER_KEYS_MAX, type CellQueryBatch } from './cell-query.js';
import { placedOf } from './usage-statement.js';

const LIST_KEYS = readTemplate('list-usage-customers');

function keysOfMinutes(builder: StatementBuilder, branch: readonly PlacedQuery[]): string {
  const { environment, meters, minutes } = minutePieces(builder, branch);
  return `SELECT u.customer_key FROM usage_minute_v1 AS u
    WHERE ${environment} AND ${meters} AND ${minutes}`;
}

/** The filters are left out: a key more costs less than the columns of properties. */
function keysOfEvents(builder: StatementBuilder, branch: readonly PlacedQuery[]): string {
  const { eventsOfAll, environment, eventName, bounds, intervals } = eventPieces(builder, branch);
  return `SELECT e.customer_key FROM ${eventsOfAll} AS e
    WHERE ${environment} AND ${eventName} AND ${bounds} AND ${intervals}`;
}

/**
 * The statement that lists the customer keys of whatever a part of the queries would read, from the
 * same minutes and events; null when there is nothing to read.
 */
export function customerKeysStatementOf(
  batch: CellQueryBatch,
  part: StatementPart,
): { readonly text: string; readonly bindings: Bindings } | null {
  const builder = new StatementBuilder(batch);
  const placed = placedOf(batch, part);
  const branches = [
    ...minuteBranchesOf(builder, placed).map((branch) => keysOfMinutes(builder, branch)),
    // The queries of one branch differ in what they are narrowed by, and read the same events.
    ...eventBranchesOf(builder, placed).map((branch) => keysOfEvents(builder, branch)),
  ];
  if (branches.length === 0) return null;
  const pieces = {
    branches: branches.join('\nUNION ALL\n'),
    keysMax: String(CUSTOMER_KEYS_MAX + 1),
  };
  return { text: fillTemplate(LIST_KEYS, pieces), bindings: builder.bindings };
}
