/** A stored row: the text of every column, null for NULL. */
export type StoredRow = Readonly<Record<string, string | null>>;
/** The rows of every table of a store, each table in a fixed order. */
export type StoredTables = Readonly<Record<string, readonly StoredRow[]>>;

/** What a migration does to the rows of the release before. Without an entry nothing changes. */
export type MigrationExpectation = {
  /** By table: the columns that it adds, with the value that rows of the release before get. */
  readonly addedColumns?: Readonly<Record<string, StoredRow>>;
  /** By table: the rows of a new table, or those that another one gets, when there are any. */
  readonly addedRows?: StoredTables;
  /** By table: what becomes of a row in any other case. */
  readonly changedRows?: Readonly<Record<string, (row: StoredRow) => StoredRow>>;
  readonly droppedTables?: readonly string[];
};
/** By file name of the migration. */
export type MigrationExpectations = Readonly<Record<string, MigrationExpectation>>;

function sorted(rows: readonly StoredRow[]): readonly StoredRow[] {
  const keyed = rows.map((row) => {
    const columns = Object.entries(row).sort(([left], [right]) => (left < right ? -1 : 1));
    return { key: JSON.stringify(columns), row: Object.fromEntries(columns) };
  });
  return keyed.sort((left, right) => (left.key < right.key ? -1 : 1)).map(({ row }) => row);
}

/** The same rows in an order that depends on them alone. */
export function sortedTables(tables: StoredTables): StoredTables {
  return Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, sorted(rows)]));
}

/**
 * The rows that must be there after a migration. A table that the migration creates has no rows
 * unless the expectation names some; whatever else it changes must be stated.
 */
export function tablesAfter(
  before: StoredTables,
  tablesFound: readonly string[],
  expectation: MigrationExpectation = {},
): StoredTables {
  const { addedColumns = {}, addedRows = {}, changedRows = {}, droppedTables = [] } = expectation;
  const created = tablesFound.filter((name) => before[name] === undefined);
  const kept = Object.entries(before).filter(([name]) => !droppedTables.includes(name));
  return sortedTables({
    ...Object.fromEntries(created.map((name) => [name, addedRows[name] ?? []])),
    ...Object.fromEntries(
      kept.map(([name, rows]) => {
        const change = changedRows[name] ?? ((row: StoredRow) => row);
        const changed = rows.map((row) => ({ ...change(row), ...addedColumns[name] }));
        // Absent means none: nearly all migrations add no rows.
        return [name, [...changed, ...(addedRows[name] ?? [])]];
      }),
    ),
  });
}

/** Tables without rows, and columns without a value in any row, as `table` or `table.column`. */
export function emptyParts(
  tables: StoredTables,
  isEmpty: (text: string | null) => boolean,
): readonly string[] {
  return Object.entries(tables).flatMap(([name, rows]) => {
    const [first] = rows;
    if (first === undefined) return [name];
    const columns = Object.keys(first);
    return columns
      .filter((column) => rows.every((row) => isEmpty(row[column] ?? null)))
      .map((column) => `${name}.${column}`);
  });
}
