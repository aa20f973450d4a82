import { correctedMinutes } from '../../../clickhouse/corrected-events.js';
import type { InstantMs } from '../../../contract/instant.js';
import { zip } from '../../../runtime/failure.js';
import {
  answerColumns,
  EVENT_INSTANT,
  MINUTE_INSTANT,
  columnsFilledBy,
  type AnswerName,
  type AnswerSql,
} from './answer-columns.js';
import type { EventCorrection } from '../../domain/usage/event-correction.js';
import { Bindings, fillTemplate } from './sql-template.js';
import { customersOf } from './branch-customers.js';
import {
  CELLS_MAX,
  CUSTOMER_KEYS_MAX,
  type CellQuery,
  type CellQueryBatch,
  type UsageCustomers,
} from './cell-query.js';
import { firstOf, type PlacedQuery, type UsageBranch } from './usage-branch.js';
import { runsOf, type Run } from './window-parts.js';

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
  readonly #withCustomerKeys: boolean;
  readonly #environment: string;

  constructor({
    environment,
    withCustomerKeys = false,
  }: Pick<CellQueryBatch, 'environment' | 'withCustomerKeys'>) {
    const { bindings } = this;
    this.#withCustomerKeys = withCustomerKeys;
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

  #isOneOf({ kind, keys }: UsageCustomers): string {
    const isOnly = kind === 'only';
    if (!isOnly && keys.length === 0) return '1';
    return `customer_key ${isOnly ? 'IN' : 'NOT IN'} (${this.bindings.list(keys, 'String')})`;
  }

  /** The times in which events of limited customers count, at an instant in milliseconds. */
  #isInSpans(customers: UsageCustomers, instant: string): string {
    const { bindings } = this;
    if (customers.kind !== 'only' || customers.limited === undefined) return '';
    const keysOf = (keys: readonly string[]) => bindings.list(keys, 'String');
    const free = keysOf(customers.limited.flatMap(({ keys }) => keys));
    const within = customers.limited.map(({ keys, spans }) => {
      const times = spans.map(({ startMs, endMs }) => {
        const from = `${instant} >= ${bindings.integer(startMs)}`;
        return endMs === Infinity ? from : `${from} AND ${instant} < ${bindings.integer(endMs)}`;
      });
      return `(customer_key IN (${keysOf(keys)}) AND (${times.join(' OR ')}))`;
    });
    return ` AND (customer_key NOT IN (${free}) OR ${within.join(' OR ')})`;
  }

  /** The rows of a branch, whose queries have their sources in common. */
  conditions(alias: string, branch: readonly PlacedQuery[]): Readonly<Record<string, string>> {
    const { bindings } = this;
    const { query } = firstOf(branch);
    const { sources } = query;
    const ofSources =
      sources === null ? '' : ` AND ${alias}.source IN (${bindings.list(sources, 'String')})`;
    const { all } = customersOf(branch);
    const instant = alias === 'u' ? MINUTE_INSTANT : EVENT_INSTANT;
    const customers = `${this.#isOneOf(all)}${this.#isInSpans(all, instant)}`;
    return { environment: this.#environment, customers: `${customers}${ofSources}` };
  }

  /** How the corrections of events of one name are read; null while there are none. */
  corrections(
    eventName: string,
    corrections: readonly EventCorrection[],
  ): { readonly scope: string; readonly corrections: string } | null {
    if (corrections.length === 0) return null;
    const { bindings } = this;
    const numbers = corrections.map(({ number }) => number);
    const scope = `${this.#environment} AND event_name = ${bindings.text(eventName)}`;
    return { scope, corrections: bindings.list(numbers, 'UInt64') };
  }

  /** That a customer's minute is, or is not, one that the query reads from the events. */
  isCorrected(
    { query: { subject }, corrected }: PlacedQuery,
    { not, cell }: { readonly not: boolean; readonly cell: string },
  ): string {
    const of = this.corrections(subject.eventName, corrected);
    return of === null ? '' : `${cell} ${not ? 'NOT IN' : 'IN'} ${correctedMinutes(of)}`;
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
