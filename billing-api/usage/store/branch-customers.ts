import type { UsageCustomers } from './cell-query.js';
import type { PlacedQuery, UsageBranch } from './usage-branch.js';

/** Whose usage the rows of one branch hold. */
export type BranchCustomers = {
  /** The customers of all queries of the branch together. */
  readonly all: UsageCustomers;
  /**
   * The customers of its queries, each set once. With more than one, rows must tell the customers
   * apart, and a query takes only those of its own.
   */
  readonly sets: readonly UsageCustomers[];
};

export function customersOf(branch: readonly PlacedQuery[]): BranchCustomers {
  const objects = new Set(branch.map(({ query }) => query.customers));
  const byText = new Map([...objects].map((one) => [JSON.stringify(one), one]));
  const sets = [...byText.values()];
  const [first, ...others] = sets;
  if (first === undefined) throw new TypeError('a branch without queries');
  if (others.length === 0) return { all: first, sets };
  return { all: { kind: 'only', keys: [...new Set(sets.flatMap(({ keys }) => keys))] }, sets };
}

/** Whether rows of the branch must tell customers apart. */
export function tellsApart({ sets }: BranchCustomers): boolean {
  return sets.length > 1;
}

/** A query of a branch and what the rows that answer it have in their column `query`. */
type NamedQuery = readonly [name: string, placed: PlacedQuery];

/** Which queries of a branch its rows answer. */
export function answeredQueries(
  named: readonly NamedQuery[],
  customers: BranchCustomers,
  namesOf: (customers: UsageCustomers) => readonly string[] = ({ keys }) => keys,
): Pick<UsageBranch, 'queryIndexes' | 'told'> {
  const isTold = tellsApart(customers);
  const queryIndexes = new Map<string, number[]>();
  for (const [name, { query, index }] of named) {
    for (const customer of isTold ? namesOf(query.customers) : ['']) {
      const row = isTold ? toldName(name, customer) : name;
      const known = queryIndexes.get(row);
      if (known === undefined) queryIndexes.set(row, [index]);
      else known.push(index);
    }
  }
  if (!isTold) return { queryIndexes, told: null };
  const queries = new Set(named.map(([name]) => name));
  return { queryIndexes, told: { queries, customers: new Set(customers.sets.flatMap(namesOf)) } };
}

function toldName(query: string, customer: string): string {
  return `${query} ${customer}`;
}

/**
 * The queries that a row answers, as indexes of the batch; null for a row that the branch cannot
 * have. Where customers are told apart there may be rows of a customer that nobody asked for: the
 * branch reads every meter of every customer it names.
 */
export function queriesOfRow(
  { queryIndexes, told }: UsageBranch,
  { query, customer }: { readonly query: string; readonly customer: string },
): readonly number[] | null {
  if (told === null) return queryIndexes.get(query) ?? null;
  if (!told.queries.has(query) || !told.customers.has(customer)) return null;
  // Absent means none: another customer of the branch asks about this meter.
  return queryIndexes.get(toldName(query, customer)) ?? [];
}
