import { mapInTurns } from '../../../runtime/loop-turns.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { Columns } from '../columns.js';
import { expandedToDto, expandRecord, type Expansions } from '../expand-record.js';
import { recordToDto, type AnswerOf, type Resource, type RowOf } from '../resource.js';
import { searchExpanded, searchRecords, type Page, type Search } from '../search-records.js';
import type { ReadUnit } from '../unit.js';
import type { WireType } from './members.js';

/** The hand-written types of a record and of a list of them as they are answered. */
type AnswerTypes = { readonly one: WireType; readonly list: WireType };

/** How the records of a resource are answered. */
export type Answers<C extends Columns, Dto> = {
  /** Absent: the build writes them. */
  readonly types?: AnswerTypes;
  one(unit: ReadUnit, row: RowOf<C>): Promise<Dto>;
  /** A record that was just stored, to which nothing belongs yet. */
  created(row: RowOf<C>): Dto;
  page(unit: ReadUnit, search: Search<C>): Promise<Page<Dto>>;
};

/** A record is answered with its columns. */
export function plainAnswers<C extends Columns>(resource: Resource<C>): Answers<C, AnswerOf<C>> {
  const toDto = (row: RowOf<C>): AnswerOf<C> => recordToDto(resource, row);
  return {
    one: (_, row) => Promise.resolve(toDto(row)),
    created: toDto,
    page: async (unit, search) => {
      const page = await searchRecords(unit, resource, search);
      return { ...page, items: await mapInTurns(page.items, toDto) };
    },
  };
}

/** A record is answered with its columns and what belongs to it; in lists only when expanded. */
export function expandedAnswers<C extends Columns, Belongings extends object>(
  resource: Resource<C>,
  expanded: {
    readonly types: AnswerTypes;
    readonly expansions: (unit: ReadUnit) => Expansions<RowOf<C>, Belongings>;
    /** What a new record is answered with. */
    readonly none: Partial<Belongings>;
  },
): Answers<C, AnswerOf<C> & Partial<Belongings>> {
  const { types, expansions, none } = expanded;
  return {
    types,
    one: async (unit, row) => {
      const found = await expandRecord(unit, row, expansions(unit));
      return expandedToDto(resource, found);
    },
    created: (row) => expandedToDto(resource, { row, expansions: none }),
    page: async (unit, search) => {
      const found = { ...search, expansions: expansions(unit) };
      const page = await searchExpanded(unit, resource, found);
      const items = await mapInTurns(page.items, (item) => expandedToDto(resource, item));
      return { ...page, items };
    },
  };
}

/** Records are answered with what is read for all of them at once. */
export function composedAnswers<C extends Columns, Dto>(
  resource: Resource<C>,
  composed: {
    readonly types: AnswerTypes;
    readonly created: (row: RowOf<C>) => Dto;
    /** In the order of the rows. */
    readonly read: (unit: ReadUnit, rows: readonly RowOf<C>[]) => Promise<readonly Dto[]>;
  },
): Answers<C, Dto> {
  const { types, created, read } = composed;
  return {
    types,
    created,
    one: async (unit, row) => assertPresent((await read(unit, [row]))[0], `the ${resource.name}`),
    page: async (unit, search) => {
      const page = await searchRecords(unit, resource, search);
      return { ...page, items: await read(unit, page.items) };
    },
  };
}
