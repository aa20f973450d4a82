import { assertPresent } from '../../../runtime/failure.js';
import {
  changeRecord,
  removeRecord,
  versionOf,
  type ChangeTarget,
  type Guard,
} from '../change-record.js';
import type { Columns, ValueOf } from '../columns.js';
import { isEqual } from '../conditions.js';
import { createRecord } from '../create-record.js';
import { findPublished, readRecord } from '../find-record.js';
import { MemberReader } from '../member-rules.js';
import type { Occasion, Reading } from '../occasion.js';
import type { SearchBodyRequest } from '../search-request.js';
import { accept, isRefusal, notFound, type Refusal } from '../refusal.js';
import {
  type ColumnName,
  type NewRecord,
  type Patch,
  type Resource,
  type RowOf,
} from '../resource.js';
import type { Page } from '../search-records.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type ReadUnit,
  type Unit,
  type WriteDependencies,
} from '../unit.js';
import { plainAnswers, type Answers } from './answers.js';
import type {
  ChangeBodyOf,
  CreateBodyOf,
  DerivedNames,
  OptionalNames,
  ReadValues,
  RequiredNames,
} from './members.js';
import { readChangeBody, readCreateBody, type GivenValues } from './read-members.js';
import { searchConditions, type SearchBodyOf, type SearchMembers } from './search-members.js';

/** What the document says of an operation, where it is not what every such operation has. */
type OperationTexts = {
  readonly operationId?: string;
  /** Such as `Read a plan with its prices`. */
  readonly summary?: string;
  readonly description?: string;
};

/** Columns of a new record that neither a request nor the table gives. */
type UnfilledNames<C extends Columns> = Exclude<
  { [Name in keyof NewRecord<C>]-?: undefined extends NewRecord<C>[Name] ? never : Name }[keyof C &
    keyof NewRecord<C>],
  RequiredNames<C> | Exclude<OptionalNames<C>, DerivedNames<C>>
>;

/** A function for the columns that a request to create does not give; required if there are any. */
type Fill<C extends Columns> = [UnfilledNames<C>] extends [never]
  ? { readonly fill?: undefined }
  : {
      readonly fill: (given: GivenValues<C>) => {
        readonly [Name in UnfilledNames<C>]: ValueOf<C[Name]>;
      };
    };

type Creation<C extends Columns> = OperationTexts &
  Fill<C> & {
    /** What the document says of the body. */
    readonly body?: string;
    readonly example: CreateBodyOf<C>;
    /** Notes what breaks a rule between members. */
    readonly check?: (reader: MemberReader, given: ReadValues<C>, body: CreateBodyOf<C>) => void;
  };

type Change<C extends Columns> = OperationTexts & {
  readonly body?: string;
  readonly example: ChangeBodyOf<C>;
  /** Notes what breaks a rule between members, and answers what is written. */
  readonly revise?: (reader: MemberReader, patch: Patch<C>) => Patch<C>;
  /** Refuses what this record cannot be changed to. */
  readonly refuse?: (unit: Unit, change: RecordChange<C>) => Promise<void>;
};

/** A record and what is to be written of it. */
export type RecordChange<C extends Columns> = {
  readonly row: RowOf<C>;
  readonly patch: Patch<C>;
};

type Removal = OperationTexts & {
  readonly guards: readonly Guard[];
  /** What DELETE answers: 200 with a message, or 204. */
  readonly answers: 'message' | 'nothing';
};

/**
 * The routes of a resource, with what is its own about each of them; one that is absent is not
 * there. From them the build writes the controller and the types that tsoa reads.
 */
type Routes<C extends Columns, S extends SearchMembers<ColumnName<C>>> = {
  /** Below /v1. */
  readonly path: string;
  readonly tag: string;
  /** The entity of permissions. */
  readonly entity: string;
  /** What the document says of a record. */
  readonly record?: string;
  readonly create?: Creation<C>;
  readonly search?: OperationTexts & { readonly by: S };
  readonly list?: OperationTexts;
  /** Reads the published record with a text in a unique column, at this path: `code/{code}`. */
  readonly readBy?: OperationTexts & {
    readonly path: `${string}/{${string}}`;
    readonly column: keyof C & string;
  };
  readonly read?: OperationTexts;
  readonly change?: Change<C>;
  readonly remove?: Removal;
};

/** The values of a new record, or what is wrong with the request. */
function newRecordOf<C extends Columns>(
  resource: Resource<C>,
  body: CreateBodyOf<C>,
  creation: Creation<C> | undefined,
): NewRecord<C> | Refusal {
  const reader = new MemberReader();
  const read = readCreateBody(reader, resource, body);
  creation?.check?.(reader, read, body);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  // Without a problem only what may be null is null, and `fill` gives all that is not given.
  const given = read as unknown as GivenValues<C>;
  return { ...given, ...creation?.fill?.(given) } as unknown as NewRecord<C>;
}

function changesOf<C extends Columns>(
  resource: Resource<C>,
  body: ChangeBodyOf<C>,
  own: Change<C> | undefined,
): Patch<C> | Refusal {
  const reader = new MemberReader();
  const given = readChangeBody(reader, resource, body);
  const patch = own?.revise?.(reader, given) ?? given;
  return reader.refusal() ?? patch;
}

async function readByText<C extends Columns>(
  unit: ReadUnit,
  resource: Resource<C>,
  { column, text }: { readonly column: keyof C & string; readonly text: string },
): Promise<RowOf<C>> {
  const [found] = await findPublished(unit, resource, isEqual(column, text));
  return accept(found ?? notFound(resource.name, text));
}

/** What the operations of a resource are made of. */
type Standard<C extends Columns, S extends SearchMembers<ColumnName<C>>, Dto> = {
  readonly resource: Resource<C>;
  readonly routes: Routes<C, S>;
  readonly answers: Answers<C, Dto>;
};

/** The operations that create, change and remove a record. */
function writing<C extends Columns, S extends SearchMembers<ColumnName<C>>, Dto>({
  resource,
  routes,
  answers,
}: Standard<C, S, Dto>) {
  return {
    async create(dependencies: WriteDependencies, occasion: Occasion, body: CreateBodyOf<C>) {
      const values = newRecordOf(resource, body, routes.create);
      if (isRefusal(values)) return values;
      return writeUnit(dependencies, occasion, async (unit) => {
        const row = await createRecord(unit, resource, values);
        return { dto: answers.created(row), version: versionOf(resource, row) };
      });
    },

    async change(
      dependencies: WriteDependencies,
      occasion: Occasion,
      { target, body }: { readonly target: ChangeTarget; readonly body: ChangeBodyOf<C> },
    ) {
      const patch = changesOf(resource, body, routes.change);
      if (isRefusal(patch)) return patch;
      return writeUnit(dependencies, occasion, async (unit) => {
        const change = async (before: RowOf<C>) => {
          await routes.change?.refuse?.(unit, { row: before, patch });
          return patch;
        };
        const row = await changeRecord(unit, resource, { target, change });
        return { dto: await answers.one(unit, row), version: versionOf(resource, row) };
      });
    },

    remove(dependencies: WriteDependencies, occasion: Occasion, id: string) {
      const guards = routes.remove?.guards ?? [];
      return writeUnit(dependencies, occasion, (unit) =>
        removeRecord(unit, resource, { id, guards }),
      );
    },
  };
}

/** The operations that read and search records. */
function reading<C extends Columns, S extends SearchMembers<ColumnName<C>>, Dto>({
  resource,
  routes: { search: ownSearch, readBy: named },
  answers,
}: Standard<C, S, Dto>) {
  return {
    search(
      dependencies: ReadDependencies,
      occasion: Reading,
      body: SearchBodyRequest & SearchBodyOf<S>,
    ): Promise<Page<Dto> | Refusal> {
      const conditions = ownSearch === undefined ? [] : searchConditions(ownSearch.by, body);
      return readUnit(dependencies, occasion, (unit) =>
        answers.page(unit, { request: body, conditions }),
      );
    },

    read(dependencies: ReadDependencies, occasion: Reading, id: string) {
      return readUnit(dependencies, occasion, async (unit) => {
        const row = await readRecord(unit, resource, id);
        return { dto: await answers.one(unit, row), version: versionOf(resource, row) };
      });
    },

    readBy(dependencies: ReadDependencies, occasion: Reading, text: string) {
      const { column } = assertPresent(named, `the column of texts that name a ${resource.name}`);
      return readUnit(dependencies, occasion, async (unit) => {
        const row = await readByText(unit, resource, { column, text });
        return { dto: await answers.one(unit, row), version: versionOf(resource, row) };
      });
    },
  };
}

/**
 * Declares the standard routes of a resource whose records are answered in a way of their own, as
 * `standardRoutes` does for others.
 */
export function answeredRoutes<
  C extends Columns,
  Dto,
  const S extends SearchMembers<ColumnName<C>> = Readonly<Record<never, never>>,
>(resource: Resource<C>, answers: Answers<C, Dto>, routes: Routes<C, S>) {
  const standard = { resource, routes, answers };
  return { ...standard, ...writing(standard), ...reading(standard) };
}

/**
 * Declares the standard routes of a resource. The build writes a controller for them, which calls
 * the operations that this answers (docs/internals/style.md 2).
 */
export function standardRoutes<
  C extends Columns,
  const S extends SearchMembers<ColumnName<C>> = Readonly<Record<never, never>>,
>(resource: Resource<C>, routes: Routes<C, S>) {
  return answeredRoutes(resource, plainAnswers(resource), routes);
}
