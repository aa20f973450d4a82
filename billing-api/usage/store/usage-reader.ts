import type { ClickHouseQueries } from '../../../clickhouse/client.js';
import type { AggregationType } from '../../../contract/aggregation.js';
import type { Environment } from '../../../contract/environment.js';
import { minuteOf, type InstantMs } from '../../../contract/instant.js';
import { AssertionFailed, assertPresent } from '../../../runtime/failure.js';
import type { CellSeries, UsageKey } from '../../domain/usage/aggregation-spec.js';
import { addCells, type WindowCell } from '../../domain/usage/window-cell.js';
import { customerKeysStatementOf } from './customer-keys-statement.js';
import {
  CELLS_MAX,
  CUSTOMER_KEYS_MAX,
  type CellQuery,
  type CellQueryBatch,
  type UsageBound,
} from './cell-query.js';
import { queriesOfRow } from './branch-customers.js';
import { lateEventsStatementOf, type LateEventsStatement } from './late-events-statement.js';
import { placesOf, UsageRow } from './parse-usage-rows.js';
import { statementsOf, type StatementPart } from './statement-parts.js';
import { tellsCustomers, usageStatementOf, type UsageStatement } from './usage-statement.js';

/** Reads the usage tables. */
export type UsageReader = {
  /**
   * What every query holds, in the order of the batch, in as few round trips as are safe
   * (`statementsOf`). Windows are exact to the millisecond.
   * @returns null when there are more than a million cells, which no answer could hold.
   * @throws DependencyError when ClickHouse fails: a failure never becomes a number.
   */
  readonly read: (batch: CellQueryBatch) => Promise<readonly (readonly CellSeries[])[] | null>;
  /**
   * For each query, the first of the minutes it reads that holds an event at or above the ends;
   * null when none does. Ask after `read`: events are there before their minutes are
   * (docs/internals/architecture.md 3.2).
   * @param ends Of every partition that may hold events; those that count none end at 0.
   */
  readonly findLateEvents: (
    batch: CellQueryBatch,
    ends: UsageBound['ends'],
  ) => Promise<readonly (InstantMs | null)[]>;
  /**
   * What every query holds of everybody but the customers that it leaves out, and whose usage that
   * is: each statement reads the usage once. Null where the rows of such queries cannot
   * tell it, or for more than 100 000 customers or a million cells; then ask for the keys by
   * themselves.
   */
  readonly readEverybody: (
    environment: Environment,
    queries: readonly CellQuery[],
  ) => Promise<EverybodysUsage | null>;
  /** Customer keys with anything that the queries would read; null for more than 100 000. */
  readonly listCustomerKeys: (
    environment: Environment,
    queries: readonly CellQuery[],
  ) => Promise<readonly string[] | null>;
};

export type EverybodysUsage = {
  readonly found: readonly (readonly CellSeries[])[];
  readonly keys: readonly string[];
};

/** Rows of events with different texts, which add up to the cells: half a minute of reading. */
const ROWS_MAX = 10_000_000;

/**
 * The server answers only when it is done, so that it cannot fail after a status of 200. It stops
 * reading once there are more rows than we take.
 */
const SETTINGS = {
  wait_end_of_query: 1,
  // Quotes around the numbers of a month of minutes would be a third of the answer.
  output_format_json_quote_64bit_integers: 0,
  max_result_rows: String(ROWS_MAX + 1),
  result_overflow_mode: 'break',
  max_query_size: '16000000',
  max_ast_elements: '1000000',
  max_expanded_ast_elements: '2000000',
  // A branch without keys answers no row where there are no minutes, like one with keys.
  empty_result_for_aggregation_by_empty_set: 1,
} as const;

/**
 * A customer's minutes lie together, so reading the conditions' columns first saves next to nothing
 * and is prepared anew for every part of the table (docs/internals/measurements.md).
 */
const OF_MINUTES = { optimize_move_to_prewhere: 0 } as const;

/** Cells of events with the same key, by their slot; each adds up combinations of texts. */
type Folded = { readonly key: UsageKey; readonly cells: Map<number, WindowCell> };

/** What was read for one query. */
type Found = { readonly series: CellSeries[]; readonly folded: Map<string, Folded> };

function seriesOf({ series, folded }: Found): readonly CellSeries[] {
  const ofEvents = [...folded.values()].map(({ key, cells }) => ({
    ...key,
    slots: [...cells.keys()],
    cells: [...cells.values()],
  }));
  return [...series, ...ofEvents];
}

type EventCell = {
  readonly type: AggregationType;
  readonly slotMs: InstantMs;
  readonly cell: WindowCell;
};

/** @returns whether the cell is new. */
function fold({ folded }: Found, key: UsageKey, { type, slotMs, cell }: EventCell): boolean {
  const name = JSON.stringify([key.source, key.group, key.texts]);
  const own = folded.get(name) ?? { key, cells: new Map<number, WindowCell>() };
  folded.set(name, own);
  const known = own.cells.get(slotMs);
  own.cells.set(slotMs, known === undefined ? cell : addCells(type, known, cell));
  return known === undefined;
}

/**
 * Adds a row to what was found for its queries. @returns how many cells are new, at least those of
 * the row where it answers no query, since a branch reads no more rows than an answer may have.
 */
function addRow(statement: UsageStatement, row: UsageRow, found: readonly Found[]): number {
  const branch = assertPresent(statement.branches[row.branch], 'the branch of a usage row');
  const indexes = assertPresent(queriesOfRow(branch, row), 'the queries of a usage row');
  const { source, group, texts } = row;
  const key = { source, group, texts };
  const ofQueries = indexes.map((index) => assertPresent(found[index], 'a query'));
  const { rule, run } = branch;
  if (rule === null) {
    const series = { ...key, ...(run === null ? row.values : row.countsOf(run)) };
    for (const own of ofQueries) own.series.push(series);
    return series.slots.length * Math.max(indexes.length, 1);
  }
  const slotMs = assertPresent(row.slots[0], 'the slot of a row of events');
  const event = { type: rule.type, slotMs, cell: row.cellOfEvents(rule) };
  return ofQueries.filter((own) => fold(own, key, event)).length;
}

/** @returns whether all rows could be taken. */
async function readStatement(
  clickHouse: ClickHouseQueries,
  statement: UsageStatement,
  into: { readonly found: readonly Found[]; readonly keys: Set<string> | null },
): Promise<boolean> {
  let [rowCount, cellCount] = [0, 0];
  const places = placesOf(statement.columns);
  const { text: select, bindings, isOfMinutes } = statement;
  const settings = isOfMinutes ? { ...SETTINGS, ...OF_MINUTES } : SETTINGS;
  await clickHouse.visitRows({ select, parameters: bindings.parameters, settings }, (row) => {
    rowCount += 1;
    if (cellCount > CELLS_MAX) return;
    const usage = new UsageRow(row, places);
    cellCount += addRow(statement, usage, into.found);
    if (into.keys === null) return;
    for (const key of usage.customerKeys) into.keys.add(key);
  });
  return rowCount <= ROWS_MAX && cellCount <= CELLS_MAX;
}

/** Notes for each query of a statement the first minute with a late event. */
async function findLate(
  clickHouse: ClickHouseQueries,
  { text: select, bindings, branches }: LateEventsStatement,
  found: (InstantMs | null)[],
): Promise<void> {
  const query = { select, parameters: bindings.parameters, settings: SETTINGS };
  await clickHouse.visitRows(query, ([number, firstMs, customer]) => {
    const branch = assertPresent(branches[Number(number)], 'the branch of late events');
    const row = { query: '', customer: String(customer) };
    const minute = minuteOf(Number(firstMs));
    for (const index of assertPresent(queriesOfRow(branch, row), 'the queries of late events')) {
      // A customer has two keys, so there may be an earlier minute already.
      found[index] = Math.min(found[index] ?? minute, minute);
    }
  });
}

/** Reads usage from ClickHouse. */
export function createUsageReader(clickHouse: ClickHouseQueries): UsageReader {
  return {
    read: async (batch) => {
      const found = batch.queries.map((): Found => ({ series: [], folded: new Map() }));
      for (const statement of statementsOf(batch, (part) => usageStatementOf(batch, part))) {
        const into = { found, keys: null };
        if (!(await readStatement(clickHouse, statement, into))) return null;
      }
      return found.map(seriesOf);
    },
    findLateEvents: async (batch, ends) => {
      const found = batch.queries.map((): InstantMs | null => null);
      const write = (part: StatementPart) => lateEventsStatementOf(batch, part, ends);
      for (const statement of statementsOf(batch, write)) {
        await findLate(clickHouse, statement, found);
      }
      return found;
    },
    readEverybody: async (environment, queries) => {
      if (!tellsCustomers(queries)) return null;
      const batch = { environment, queries, bound: null, withCustomerKeys: true };
      const found = queries.map((): Found => ({ series: [], folded: new Map() }));
      const keys = new Set<string>();
      for (const statement of statementsOf(batch, (part) => usageStatementOf(batch, part))) {
        if (!(await readStatement(clickHouse, statement, { found, keys }))) return null;
      }
      if (keys.size > CUSTOMER_KEYS_MAX) return null;
      return { found: found.map(seriesOf), keys: [...keys] };
    },
    listCustomerKeys: async (environment, queries) => {
      const batch = { environment, queries, bound: null };
      const keys = new Set<string>();
      const write = (part: StatementPart) => customerKeysStatementOf(batch, part);
      for (const { text: select, bindings } of statementsOf(batch, write)) {
        const query = { select, parameters: bindings.parameters, settings: SETTINGS };
        await clickHouse.visitRows(query, ([key]) => {
          if (typeof key !== 'string') throw new AssertionFailed('a customer key is no text');
          keys.add(key);
        });
      }
      return keys.size > CUSTOMER_KEYS_MAX ? null : [...keys];
    },
  };
}
