import { AGGREGATIONS } from '../../../contract/aggregation.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import {
  answeredQueries,
  customersOf,
  tellsApart,
  type BranchCustomers,
} from './branch-customers.js';
import type { UsageCustomers } from './cell-query.js';
import { conditionsOf, eventKeyColumns, eventPieces, readsEvents } from './event-branch.js';
import { minutePieces, splitColumns } from './minute-branch.js';
import { readTemplate } from './sql-template.js';
import type { StatementBuilder } from './statement-builder.js';
import { branchesBy, firstOf, type PlacedQuery } from './usage-branch.js';

const READ_UNIQUES = readTemplate('read-usage-uniques');

/**
 * Which of several customers a row is of, by the place of this one in the branch: a text counts
 * once for a customer, whichever of its keys stands in the row.
 */
function toldCustomer({ bindings }: StatementBuilder, { sets }: BranchCustomers): string {
  if (sets.length === 1) return '';
  const keys = sets.flatMap((set) => set.keys);
  const names = sets.flatMap((set, place) => set.keys.map(() => String(place)));
  const [from, to] = [keys, names].map((list) => bindings.list(list, 'String'));
  return `transform(customer_key, ${from}, ${to}, '') AS customer_text, `;
}

function hashesOfMinutes(
  builder: StatementBuilder,
  branch: readonly PlacedQuery[],
  told: string,
): string {
  const { slot, environment, customers, meters, minutes } = minutePieces(builder, branch);
  const { source = `''`, group = `''` } = splitColumns(firstOf(branch).query);
  return `SELECT ${told}${slot} AS slot_ms, ${source} AS source_text, ${group} AS group_text,
      CAST([], 'Array(String)') AS texts, arrayJoin(u.uniques) AS hash
    FROM usage_minute_v1 AS u WHERE ${environment} AND ${customers} AND ${meters} AND ${minutes}`;
}

function hashesOfEvents(
  builder: StatementBuilder,
  branch: readonly PlacedQuery[],
  told: string,
): string {
  const placed = firstOf(branch);
  const pieces = eventPieces(builder, branch);
  const { source, group, texts } = eventKeyColumns(builder, placed);
  const { aggregation } = placed.query.subject;
  const property = assertPresent(aggregation.field, 'the property whose texts are counted');
  const field = builder.bindings.text(property);
  const narrowed = conditionsOf(builder, placed.query.narrowedBy);
  const { events, environment, eventName, customers, bounds, intervals, filters, ends } = pieces;
  return `SELECT ${told}${pieces['slot']} AS slot_ms, ${source} AS source_text,
      ${group} AS group_text, ${texts} AS texts,
      toFixedString(substring(SHA256(e.properties[${field}]), 1, 16), 16) AS hash
    FROM ${events} AS e WHERE ${environment} AND ${eventName} AND ${customers} AND ${bounds}
      AND ${intervals} AND ${filters} AND ${narrowed} AND ${ends}
      AND mapContains(e.properties, ${field})`;
}

/** Sets of customers that have a key in common get branches of their own. */
function disjointBranches(branch: readonly PlacedQuery[]): readonly (readonly PlacedQuery[])[] {
  const { sets } = customersOf(branch);
  const keys = sets.flatMap((set) => set.keys);
  if (sets.length === 1 || new Set(keys).size === keys.length) return [branch];
  return [...groupBy(branch, ({ query }) => JSON.stringify(query.customers)).values()];
}

/**
 * Queries whose values count different texts and that have something to read. Those of one branch
 * differ in their customers only.
 */
export function uniquesBranchesOf(
  builder: StatementBuilder,
  queries: readonly PlacedQuery[],
): readonly (readonly PlacedQuery[])[] {
  const read = queries.filter((placed) => {
    const { values } = AGGREGATIONS[placed.query.subject.aggregation.type];
    const isEmpty = placed.parts.minutes === null && !readsEvents(placed);
    return values.includes('uniques') && !isEmpty;
  });
  const branches = branchesBy(read, ({ query, parts, ends }) => {
    const { subject, narrowedBy, sources, slots, split, isFirstSlotOnly } = query;
    const events = [parts, ends, narrowedBy, sources];
    return [subject, events, builder.slotsId(slots), split, isFirstSlotOnly];
  });
  return branches.flatMap(disjointBranches);
}

/** Adds the branch that counts the texts of its queries over minutes and events together. */
export function addUniquesBranch(builder: StatementBuilder, branch: readonly PlacedQuery[]): void {
  const first = firstOf(branch);
  const { query, parts } = first;
  const customers = customersOf(branch);
  const told = toldCustomer(builder, customers);
  const hashes = [
    ...(parts.minutes === null ? [] : [hashesOfMinutes(builder, branch, told)]),
    ...(!readsEvents(first) ? [] : [hashesOfEvents(builder, branch, told)]),
  ];
  const isFirst = query.isFirstSlotOnly;
  const isTold = tellsApart(customers);
  const places = new Map(customers.sets.map((set, place) => [JSON.stringify(set), String(place)]));
  const nameOf = (set: UsageCustomers): readonly string[] => [
    mustGet(places, JSON.stringify(set), 'the customers of a query'),
  ];
  const answered = answeredQueries(
    branch.map((placed) => ['', placed] as const),
    customers,
    nameOf,
  );
  const keys = `${isTold ? 'customer_text, ' : ''}source_text, group_text, texts`;
  builder.add(
    { ...answered, rule: null, run: null },
    {
      template: READ_UNIQUES,
      columns: {
        ...(isTold ? { customer: 'customer_text' } : {}),
        source: 'source_text',
        group: 'group_text',
        texts: 'texts',
        slots: 'groupArray(slot_ms)',
        uniqueCount: 'groupArray(slot_texts)',
      },
      pieces: {
        keys,
        hashes: hashes.join(' UNION ALL '),
        slot: isFirst ? 'min(slot_ms)' : 'slot_ms',
        firstOnly: isFirst ? `GROUP BY ${keys}, hash` : '',
      },
    },
  );
}
