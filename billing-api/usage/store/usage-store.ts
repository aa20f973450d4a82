import type { ClickHouse } from '../../../clickhouse/client.js';
import type { Environment } from '../../../contract/environment.js';
import type { InstantMs } from '../../../contract/instant.js';
import { AssertionFailed, assertPresent } from '../../../runtime/failure.js';
import type { CellSeries, UsageKey } from '../../domain/usage/aggregation-spec.js';
import { addCells, type WindowCell } from '../../domain/usage/window-cell.js';
import { customerKeysStatementOf } from './customer-keys-statement.js';
import { CELLS_MAX, type UsageQuestion, type UsageWish } from './usage-question.js';
import { UsageRow } from './usage-rows.js';
import { usageStatementOf, type UsageStatement } from './usage-statement.js';

/** The usage tables as questions are put to them. */
export type UsageStore = {
  /**
   * What every question holds, in the order of the wish, in one round trip per 200 questions.
   * Windows are exact to the millisecond.
   * @returns null when there are more than a million cells, which no answer could hold.
   * @throws DependencyError when ClickHouse fails: a failure never becomes a number.
   */
  readonly read: (wish: UsageWish) => Promise<readonly (readonly CellSeries[])[] | null>;
  /** Customer keys with anything that the questions would read; null for more than 100 000. */
  readonly listCustomerKeys: (
    environment: Environment,
    questions: readonly UsageQuestion[],
  ) => Promise<readonly string[] | null>;
};

const QUESTIONS_PER_QUERY_MAX = 200;
const KEYS_MAX = 100_000;
/** Rows of events with different texts that fold into the cells: about half a minute of reading. */
const ROWS_MAX = 10_000_000;

/**
 * The server answers only when it is done, so that it cannot fail behind a status of 200; it stops
 * reading once nobody could take the rows. 200 questions make a statement of half a megabyte.
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
} as const;

/** Cells of events with the same key by their slot: combinations of texts add up to them. */
type Folded = { readonly key: UsageKey; readonly cells: Map<number, WindowCell> };

/** What was read for one question. */
type Found = { readonly sums: CellSeries[]; readonly folded: Map<string, Folded> };

function seriesOf({ sums, folded }: Found): readonly CellSeries[] {
  const ofEvents = [...folded.values()].map(({ key, cells }) => ({
    ...key,
    slots: [...cells.keys()],
    cells: [...cells.values()],
  }));
  return [...sums, ...ofEvents];
}

type EventCell = { readonly slotMs: InstantMs; readonly cell: WindowCell };

/** @returns whether the cell is new. */
function fold({ folded }: Found, key: UsageKey, { slotMs, cell }: EventCell): boolean {
  const name = JSON.stringify([key.source, key.group, key.texts]);
  const own = folded.get(name) ?? { key, cells: new Map<number, WindowCell>() };
  folded.set(name, own);
  const known = own.cells.get(slotMs);
  own.cells.set(slotMs, known === undefined ? cell : addCells(known, cell));
  return known === undefined;
}

/** Adds a row to what was found for its questions. @returns how many cells are new. */
function addRow(statement: UsageStatement, row: UsageRow, found: readonly Found[]): number {
  const arm = assertPresent(statement.arms[row.arm], 'the arm of a usage row');
  const questions = assertPresent(arm.questionsOf.get(row.question), 'the question of a usage row');
  const { source, group, texts } = row;
  const key = { source, group, texts };
  const ofQuestions = questions.map((question) => assertPresent(found[question], 'a question'));
  if (arm.rule === null) {
    const series = { ...key, ...(arm.run === null ? row.sums : row.countsOf(arm.run)) };
    for (const own of ofQuestions) own.sums.push(series);
    return series.slots.length * questions.length;
  }
  const slotMs = assertPresent(row.slots[0], 'the slot of a row of events');
  const event = { slotMs, cell: row.cellOfEvents(arm.rule) };
  return ofQuestions.filter((own) => fold(own, key, event)).length;
}

/** Reads usage from ClickHouse. */
export function createUsageStore(clickHouse: ClickHouse): UsageStore {
  /** @returns whether all rows could be taken. */
  const readStatement = async (
    statement: UsageStatement,
    found: readonly Found[],
  ): Promise<boolean> => {
    let [rowCount, cellCount] = [0, 0];
    await clickHouse.visitRows(
      { select: statement.text, parameters: statement.bindings.parameters, settings: SETTINGS },
      (row) => {
        rowCount += 1;
        if (cellCount <= CELLS_MAX) cellCount += addRow(statement, new UsageRow(row), found);
      },
    );
    return rowCount <= ROWS_MAX && cellCount <= CELLS_MAX;
  };
  return {
    read: async (wish) => {
      const found = wish.questions.map((): Found => ({ sums: [], folded: new Map() }));
      const isNobody = wish.customers.kind === 'only' && wish.customers.keys.length === 0;
      for (let from = 0; from < found.length && !isNobody; from += QUESTIONS_PER_QUERY_MAX) {
        const statement = usageStatementOf(wish, { from, to: from + QUESTIONS_PER_QUERY_MAX });
        if (statement !== null && !(await readStatement(statement, found))) return null;
      }
      return found.map(seriesOf);
    },
    listCustomerKeys: async (environment, questions) => {
      const statement = customerKeysStatementOf(environment, questions, KEYS_MAX);
      if (statement === null) return [];
      const keys: string[] = [];
      const { text: select, bindings } = statement;
      const query = { select, parameters: bindings.parameters, settings: SETTINGS };
      await clickHouse.visitRows(query, ([key]) => {
        if (typeof key !== 'string') throw new AssertionFailed('a customer key is no text');
        keys.push(key);
      });
      return keys.length > KEYS_MAX ? null : keys;
    },
  };
}
