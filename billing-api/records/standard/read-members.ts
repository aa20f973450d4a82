import type { Column, Columns, ValueOf } from '../columns.js';
import type { MemberReader } from '../member-rules.js';
import type { MetadataDto } from '../record-dto.js';
import type { Patch, Resource } from '../resource.js';
import type {
  ChangeBodyOf,
  CreateBodyOf,
  GivenColumn,
  OptionalNames,
  ReadValues,
  RequiredNames,
} from './members.js';

type Given = Readonly<Record<string, unknown>>;
type Metadata = { readonly metadata?: MetadataDto | null };

function isGiven(column: Column): column is GivenColumn {
  return 'atCreation' in column;
}

function isChangeable(column: Column): column is GivenColumn {
  return 'isChangeable' in column;
}

/**
 * What a request to create gives, read by the rule of each column. Problems are noted; the value of
 * a member with one is null.
 */
export function readCreateBody<C extends Columns>(
  reader: MemberReader,
  { columns }: Resource<C>,
  body: CreateBodyOf<C>,
): ReadValues<C> & { readonly metadata: MetadataDto } {
  const given: Given = body;
  const values = Object.entries<Column>(columns).flatMap(([name, column]) => {
    if (!isGiven(column)) return [];
    const text = given[name];
    if (text !== undefined) return [[name, column.wire.read(reader, name, text)] as const];
    return [[name, column.atCreation === 'optional' ? column.absent : null] as const];
  });
  const { metadata }: Metadata = body;
  // The loop makes exactly these members, which TypeScript cannot see.
  const read = Object.fromEntries(values) as ReadValues<C>;
  return { ...read, metadata: { ...reader.metadata(metadata ?? undefined) } };
}

/** The values of a request without a problem: only columns that may be null are null. */
export type GivenValues<C extends Columns> = {
  readonly [Name in RequiredNames<C> | OptionalNames<C>]: ValueOf<C[Name]>;
} & { readonly metadata: MetadataDto };

/** What a change writes: the members that are given, where null clears one. Problems are noted. */
export function readChangeBody<C extends Columns>(
  reader: MemberReader,
  { columns }: Resource<C>,
  body: ChangeBodyOf<C>,
): Patch<C> {
  const given: Given = body;
  const values = Object.entries<Column>(columns).flatMap(([name, column]) => {
    const value = given[name];
    if (value === undefined || !isChangeable(column)) return [];
    return [[name, value === null ? null : column.wire.read(reader, name, value)] as const];
  });
  const { metadata }: Metadata = body;
  const changed = reader.changedMetadata(metadata);
  // As above. A null after a problem is never written: the request is refused.
  const patch = Object.fromEntries(values) as Patch<C>;
  return changed === undefined ? patch : { ...patch, metadata: { ...changed } };
}
