import type { ValueRule } from '../../../contract/event-value.js';
import type { InstantMs } from '../../../contract/instant.js';
import { zip } from '../../../runtime/failure.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import {
  answerColumns,
  columnsFilledBy,
  type AnswerName,
  type AnswerSql,
} from './answer-columns.js';
import { Bindings, fillTemplate } from './sql-template.js';
import { CELLS_MAX, CUSTOMER_KEYS_MAX, type CellQuery, type CellQueryBatch } from './cell-query.js';
import { runsOf, type Run, type WindowParts } from './window-parts.js';

/** One SELECT of a UNION ALL: which queries its rows answer, and how they are read. */
export type UsageBranch = {
  /**
   * By the column `query` of a row: the queries that it answers, as indexes of the batch. A branch
   * with one query leaves the column empty.
   */
  readonly queryIndexes: ReadonlyMap<string, readonly number[]>;
  /** Makes the values of events from their texts; null where rows have the values themselves. */
  readonly rule: ValueRule | null;
  /** Slots for all of which a row has a place, in this order, also for those without events. */
  readonly run: Run | null;
};
/** A query, its index in the batch, and where its parts are read from. */
export type PlacedQuery = {
  readonly query: CellQuery;
  readonly index: number;
  readonly parts: WindowParts;
  /** The only partitions whose events count, and how far; null for all. */
  readonly ends: readonly PartitionEnd[] | null;
};

/** How the SELECT of a branch is written. */
type BranchSql = {
  readonly template: string;
  /** The columns that it fills. */
  readonly columns: AnswerSql;
  /** The other pieces of its template. */
  readonly pieces: Readonly<Record<string, string>>;
};

/** A list of slots in short; no runs for one slot. */
type Slots = { readonly id: number; readonly runs: readonly Run[] };

/** Collects the branches of one statement and the values that are bound in it. */
export class StatementBuilder {
  readonly bindings = new Bindings();
  readonly branches: UsageBranch[] = [];
  readonly #sql: BranchSql[] = [];
  readonly #slots = new Map<readonly InstantMs[] | null, Slots>();
  readonly #slotIds = new Map<string, Slots>();
  readonly #customers: string;
  readonly #withCustomerKeys: boolean;
  readonly #environment: string;

  constructor({
    environment,
    customers,
    withCustomerKeys = false,
  }: Pick<CellQueryBatch, 'environment' | 'customers' | 'withCustomerKeys'>) {
    const { bindings } = this;
    this.#withCustomerKeys = withCustomerKeys;
    const list = bindings.list(customers.keys, 'String');
    const isOnly = customers.kind === 'only';
    this.#customers =
      isOnly || customers.keys.length > 0
        ? `customer_key ${isOnly ? 'IN' : 'NOT IN'} (${list})`
        : '1';
    this.#environment =
      `tenant_id = ${bindings.text(environment.tenantId)}` +
      ` AND environment_id = ${bindings.text(environment.environmentId)}`;
  }

  /** Tells lists of slots apart. */
  slotsId(slots: readonly InstantMs[] | null): number {
    return this.#known(slots).id;
  }

  /** Lists with the same slots are one: comparing runs is comparing lists. */
  #known(slots: readonly InstantMs[] | null): Slots {
    const seen = this.#slots.get(slots);
    if (seen !== undefined) return seen;
    const runs = slots === null ? [] : runsOf(slots);
    const name = JSON.stringify(slots === null ? null : runs);
    const known = this.#slotIds.get(name) ?? { id: this.#slotIds.size, runs };
    this.#slotIds.set(name, known);
    this.#slots.set(slots, known);
    return known;
  }

  #startsOf(runs: readonly Run[]): string {
    const [starts, steps, counts] = ([0, 1, 2] as const).map((index) =>
      this.bindings.list(
        runs.map((run) => run[index]),
        'Int64',
      ),
    );
    return (
      `arrayFlatten(arrayMap((start, step, times) -> arrayMap(i -> start + toInt64(i) * step, ` +
      `range(toUInt32(times))), ${starts}, ${steps}, ${counts}))`
    );
  }

  /** Computed for one run: looking each instant up in a month of minutes takes a third longer. */
  #slotIn(run: Run, instant: string): string {
    const [startMs, stepMs] = run;
    const { bindings } = this;
    const place = this.placeIn(run, instant);
    return `${bindings.integer(startMs)} + ${place} * ${bindings.integer(stepMs)}`;
  }

  /** The slots as one run; null where they are none. */
  runOf({ slots }: CellQuery): Run | null {
    const { runs } = this.#known(slots);
    const [only, ...others] = runs;
    return only === undefined || others.length > 0 ? null : only;
  }

  /** Zero-based index of the slot of an instant, which must not precede the first slot. */
  placeIn([startMs, stepMs, count]: Run, instant: string): string {
    if (count === 1) return '0';
    const [start, step, last] = [startMs, stepMs, count - 1].map((value) =>
      this.bindings.integer(value),
    );
    return `least(intDiv(${instant} - ${start}, ${step}), ${last})`;
  }

  /** Start of the slot of an instant, which must not precede the first; one slot is called 0. */
  slot(query: CellQuery, instant: string): string {
    if (query.slots === null) return 'toInt64(0)';
    const run = this.runOf(query);
    if (run !== null) return this.#slotIn(run, instant);
    return `roundDown(${instant}, ${this.#startsOf(this.#known(query.slots).runs)})`;
  }

  conditions(alias: string, { sources }: CellQuery): Readonly<Record<string, string>> {
    const { bindings } = this;
    const ofSources =
      sources === null ? '' : ` AND ${alias}.source IN (${bindings.list(sources, 'String')})`;
    return { environment: this.#environment, customers: `${this.#customers}${ofSources}` };
  }

  /** The customer keys behind a row, where they are asked for: one more than an answer tells. */
  customerKeys(alias: string): AnswerSql {
    if (!this.#withCustomerKeys) return {};
    const keys = `groupUniqArray(${CUSTOMER_KEYS_MAX + 1})(${alias}.customer_key)`;
    return { customerKeys: keys };
  }

  add(branch: UsageBranch, sql: BranchSql): void {
    this.#sql.push(sql);
    this.branches.push(branch);
  }

  /** The statement of all branches, and the columns of its rows. */
  build(): { readonly text: string; readonly columns: readonly AnswerName[] } {
    const isOne = this.#sql.length === 1;
    const filled = this.#sql.map(({ columns }, index) =>
      isOne ? columns : { ...columns, branch: String(index) },
    );
    const columns = columnsFilledBy(filled);
    const texts = zip(this.#sql, filled).map(([{ template, pieces }, own]) =>
      fillTemplate(template, {
        ...pieces,
        columns: answerColumns(columns, own),
        rowsMax: String(CELLS_MAX + 1),
      }),
    );
    return { text: texts.join('\nUNION ALL\n'), columns };
  }
}

/** Queries that one branch answers: those with the same key, in their order. */
export function branchesBy(
  queries: readonly PlacedQuery[],
  keyOf: (placed: PlacedQuery) => string,
): readonly (readonly PlacedQuery[])[] {
  const branches = new Map<string, PlacedQuery[]>();
  for (const placed of queries) {
    const key = keyOf(placed);
    const branch = branches.get(key);
    if (branch === undefined) branches.set(key, [placed]);
    else branch.push(placed);
  }
  return [...branches.values()];
}
