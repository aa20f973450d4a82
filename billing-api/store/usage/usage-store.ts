import { z } from 'zod';
import type { ClickHouse } from '../../../clickhouse/client.js';
import type { Environment } from '../../../contract/environment.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { KeyedCell } from '../../domain/usage/usage-view.js';
import { addCells } from '../../domain/usage/window-cell.js';
import { queryFile } from '../query-file.js';
import type { UsageQuestion, UsageWish } from './usage-question.js';
import { UsageRow } from './usage-rows.js';
import { usageStatementOf, type UsageStatement } from './usage-statement.js';
import { clampedWindow } from './window-parts.js';

/** The usage tables as questions are put to them. */
export type UsageStore = {
  /**
   * The cells of every question, in the order of the wish, in one round trip per 200 questions.
   * Windows are exact to the millisecond.
   * @returns null when there are more than a million cells, which no answer could hold.
   * @throws DependencyError when ClickHouse fails: a failure never becomes a number.
   */
  readonly read: (wish: UsageWish) => Promise<readonly (readonly KeyedCell[])[] | null>;
  /** Customer keys with usage of the subject in the window; null for more than 100 000. */
  readonly listCustomerKeys: (
    environment: Environment,
    question: Pick<UsageQuestion, 'subject' | 'window'>,
  ) => Promise<readonly string[] | null>;
};

const QUESTIONS_PER_QUERY_MAX = 200;
const CELLS_MAX = 1_000_000;
const KEYS_MAX = 100_000;
/** Rows of events with different texts that fold into the cells: about half a minute of reading. */
const ROWS_MAX = 10_000_000;

const LIST_CUSTOMERS = queryFile('list-usage-customers');

/**
 * The server answers only when it is done, so that it cannot fail behind a status of 200; it stops
 * reading once nobody could take the rows. 200 questions make a statement of half a megabyte.
 */
const SETTINGS = {
  wait_end_of_query: 1,
  max_result_rows: String(ROWS_MAX + 1),
  result_overflow_mode: 'break',
  max_query_size: '16000000',
  max_ast_elements: '1000000',
  max_expanded_ast_elements: '2000000',
} as const;

/** The cells of one question by what tells them apart: by their slot alone where that is all. */
type Cells = Map<string | number, KeyedCell>;

/** A month of minutes has 43,200 cells, for which making texts took longer than reading them. */
function nameOf({ slotMs, source, group, texts }: Omit<KeyedCell, 'cell'>): string | number {
  const isPlain = source === '' && group === '' && texts.length === 0;
  return isPlain ? slotMs : JSON.stringify([slotMs, source, group, texts]);
}

/** Adds a row to the cells of the questions that it answers. @returns how many cells are new. */
function addRow(statement: UsageStatement, row: UsageRow, cells: readonly Cells[]): number {
  const arm = assertPresent(statement.arms[row.arm], 'the arm of a usage row');
  const questions = assertPresent(arm.questionsOf.get(row.question), 'the question of a usage row');
  const cell = arm.rule === null ? row.cellOfSums : row.cellOfEvents(arm.rule);
  const { slotMs, source, group, texts } = row;
  const name = nameOf({ slotMs, source, group, texts });
  let added = 0;
  for (const question of questions) {
    const own = assertPresent(cells[question], 'the cells of a question');
    const known = own.get(name);
    if (known === undefined) added += 1;
    const sum = known === undefined ? cell : addCells(known.cell, cell);
    own.set(name, { slotMs, source, group, texts, cell: sum });
  }
  return added;
}

/** Reads usage from ClickHouse. */
export function createUsageStore(clickHouse: ClickHouse): UsageStore {
  /** @returns whether all rows could be taken. */
  const readStatement = async (
    statement: UsageStatement,
    cells: readonly Cells[],
  ): Promise<boolean> => {
    let [rowCount, cellCount] = [0, 0];
    await clickHouse.visitRows(
      { select: statement.text, parameters: statement.bindings.parameters, settings: SETTINGS },
      (row) => {
        rowCount += 1;
        if (cellCount <= CELLS_MAX) cellCount += addRow(statement, new UsageRow(row), cells);
      },
    );
    return rowCount <= ROWS_MAX && cellCount <= CELLS_MAX;
  };
  return {
    read: async (wish) => {
      const cells = wish.questions.map((): Cells => new Map());
      const isNobody = wish.customers.kind === 'only' && wish.customers.keys.length === 0;
      for (let from = 0; from < cells.length && !isNobody; from += QUESTIONS_PER_QUERY_MAX) {
        const statement = usageStatementOf(wish, { from, to: from + QUESTIONS_PER_QUERY_MAX });
        if (statement !== null && !(await readStatement(statement, cells))) return null;
      }
      return cells.map((own) => [...own.values()]);
    },
    listCustomerKeys: async (environment, { subject, window }) => {
      const { startMs, endMs } = clampedWindow(window);
      const parameters = {
        ...environment,
        meterId: subject.minutes?.meterId ?? '',
        eventName: subject.eventName,
        fromMs: startMs,
        toMs: endMs,
        rowsMax: KEYS_MAX + 1,
      };
      const row = z.object({ customer_key: z.string() });
      const rows = await clickHouse.query(LIST_CUSTOMERS, parameters, row);
      return rows.length > KEYS_MAX ? null : rows.map((found) => found.customer_key);
    },
  };
}
