/** The types of absent-members.mjs, for its test; see there. */
type Schemas = Readonly<Record<string, object>>;
type Paths = Readonly<Record<string, Readonly<Record<string, object>>>>;
type Table = Readonly<Record<string, readonly string[]>>;
export function withAbsentMembers(schemas: Schemas, table: Table): Schemas;
export function absentMembersOf(
  paths: Paths,
  schemas: Schemas,
  table: Table,
): {
  readonly answers: Readonly<Record<string, string>>;
  readonly schemas: Readonly<
    Record<
      string,
      { readonly absent: readonly string[]; readonly inner: Readonly<Record<string, string>> }
    >
  >;
};
