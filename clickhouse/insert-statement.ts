import type { InsertColumn } from '../contract/table-column.js';

type InsertForm = {
  readonly table: string;
  readonly columns: readonly InsertColumn[];
  /** A WHERE clause; absent for none. */
  readonly condition?: string;
  /** A SETTINGS clause of the format; absent for none. */
  readonly settings?: string;
};

/**
 * The statement that stores JSONCompactEachRow lines whose values stand in the order of the columns
 * (`insertText`).
 */
export function insertSelect({
  table,
  columns,
  condition = '',
  settings = '',
}: InsertForm): string {
  const names = columns.map(({ name }) => name).join(', ');
  const structure = columns.map(({ name, type }) => `${name} ${type}`).join(', ');
  const values = columns.map(({ name, stored }) => stored ?? name).join(', ');
  return `INSERT INTO ${table} (${names})
    SELECT ${values} FROM input('${structure}')
    ${condition}
    ${settings}
    FORMAT JSONCompactEachRow`;
}
