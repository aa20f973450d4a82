import type { Columns } from './columns.js';
import { findRecord, findRecords } from './find-record.js';
import { notFound, Refused } from './refusal.js';
import { recordToDto, type AnswerOf, type Resource, type RowOf } from './resource.js';
import type { ReadUnit } from './unit.js';

/** Reads one expandable member of all records of an answer at once, or refuses so many of them. */
export type Expansion<Row, Answer> = (
  unit: ReadUnit,
  rows: readonly Row[],
) => Promise<(row: Row) => Answer>;

/**
 * The expandable members of a resource. An expanded record carries no expansions of its own, so
 * what is answered never nests deeper than this.
 */
export type Expansions<Row, Answers> = {
  readonly [Name in keyof Answers]-?: Expansion<Row, Exclude<Answers[Name], undefined>>;
};

/**
 * A record with the expandable members that the request names; the others are null, so that every
 * member of a resource is in every answer (docs/http.md 1.6).
 */
export type Expanded<Row, Answers> = { readonly row: Row; readonly expansions: Partial<Answers> };

/** Expands to the record that a column names, whatever its status; null when it names none. */
export function refersTo<Name extends string, C extends Columns, Answer>(
  column: Name,
  resource: Resource<C>,
  toDto: (row: RowOf<C>) => Answer,
): Expansion<Readonly<Record<Name, string | null>>, Answer | null> {
  return async (unit, rows) => {
    const found = await findRecords(
      unit,
      resource,
      rows.flatMap((row) => row[column] ?? []),
    );
    return (row) => {
      const record = found.get(row[column] ?? '');
      return record === undefined ? null : toDto(record);
    };
  };
}

/** The records with these expandable members, or with all of them, in one read for each member. */
export async function expandRecords<Row, Answers extends object>(
  unit: ReadUnit,
  rows: readonly Row[],
  wanted: {
    readonly expansions: Expansions<Row, Answers>;
    readonly names: ReadonlySet<string> | 'all';
  },
): Promise<readonly Expanded<Row, Answers>[]> {
  const readers: (readonly [string, (row: Row) => unknown])[] = [];
  const entries: [string, Expansion<Row, unknown>][] = Object.entries(wanted.expansions);
  for (const [name, expansion] of entries) {
    if (wanted.names !== 'all' && !wanted.names.has(name)) {
      readers.push([name, () => null]);
      continue;
    }
    const read = await expansion(unit, rows);
    readers.push([name, read]);
  }
  return rows.map((row) => {
    const members = readers.map(([name, read]) => [name, read(row)] as const);
    // The names are those of Expansions<Row, Answers>, which Object.entries forgets.
    return { row, expansions: Object.fromEntries(members) as Partial<Answers> };
  });
}

/** GET of one record: all of its expandable members, whatever its status; 404 when unknown. */
export async function readExpanded<C extends Columns, Answers extends object>(
  unit: ReadUnit,
  resource: Resource<C>,
  wanted: { readonly id: string; readonly expansions: Expansions<RowOf<C>, Answers> },
): Promise<Expanded<RowOf<C>, Answers>> {
  const row = await findRecord(unit, resource, wanted.id);
  if (row === null) throw new Refused(notFound(resource.name, wanted.id));
  return expandRecord(unit, row, wanted.expansions);
}

/** One record with all of its expandable members. */
export async function expandRecord<Row, Answers extends object>(
  unit: ReadUnit,
  row: Row,
  expansions: Expansions<Row, Answers>,
): Promise<Expanded<Row, Answers>> {
  const expanded = await expandRecords(unit, [row], { expansions, names: 'all' });
  return expanded[0] ?? { row, expansions: {} };
}

/** A record with its expansions as it is answered. */
export function expandedToDto<C extends Columns, Answers>(
  resource: Resource<C>,
  { row, expansions }: Expanded<RowOf<C>, Answers>,
): AnswerOf<C> & Partial<Answers> {
  return { ...recordToDto(resource, row), ...expansions };
}
