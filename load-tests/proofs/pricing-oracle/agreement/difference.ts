import type { InvoiceLine, PricedInvoice } from '../invoice.js';

/** A member that the two tell differently. */
export type Difference = {
  readonly where: string;
  readonly expected: string;
  readonly actual: string;
};

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? each.toString() : each,
  );
}

/** Every leaf of a record with the path that leads to it. */
function leavesOf(value: unknown, path: string): readonly (readonly [string, string])[] {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isRecord) return [[path, textOf(value)]];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, `${path}.${key}`));
}

function differencesOf(where: string, expected: unknown, actual: unknown): readonly Difference[] {
  const [own, other] = [leavesOf(expected, where), leavesOf(actual, where)].map(
    (leaves) => new Map(leaves),
  );
  const paths = new Set([...(own?.keys() ?? []), ...(other?.keys() ?? [])]);
  return [...paths].flatMap((path) => {
    const texts = { expected: own?.get(path) ?? 'nothing', actual: other?.get(path) ?? 'nothing' };
    return texts.expected === texts.actual ? [] : [{ where: path, ...texts }];
  });
}

function nameOf({ itemId, kind, periodStart }: InvoiceLine): string {
  return `line ${itemId ?? 'of the plan'} ${kind} from ${periodStart}`;
}

/** Lines are told apart by item, kind and start; their order counts, too. */
export function differences(expected: PricedInvoice, actual: PricedInvoice): readonly Difference[] {
  const names = expected.lines.map(nameOf);
  const actualNames = actual.lines.map(nameOf);
  const byName = new Map(actual.lines.map((line) => [nameOf(line), line]));
  return [
    ...differencesOf('lines', names, actualNames),
    ...expected.lines.flatMap((line) =>
      byName.has(nameOf(line)) ? differencesOf(nameOf(line), line, byName.get(nameOf(line))) : [],
    ),
    ...differencesOf('invoice', { ...expected, lines: null }, { ...actual, lines: null }),
  ];
}
