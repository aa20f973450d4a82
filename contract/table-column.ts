/** Rows of one block, the default of ClickHouse: an insert of more would be several parts. */
export const BLOCK_ROWS_MAX = 1_048_449;

/** A column of a ClickHouse table as an insert names it. */
export type InsertColumn = {
  readonly name: string;
  /** ClickHouse type of the encoded value. */
  readonly type: string;
  /** SQL that makes the stored value of the encoded one, which has the name of the column. */
  readonly stored?: string;
};

/**
 * A column with the value that a row encodes for it, as JSON. An insert statement and the lines
 * that it reads are made of the same list, so they cannot differ in their order.
 */
export type TableColumn<Row, Context = void> = InsertColumn & {
  readonly encode: (row: Row, context: Context) => unknown;
};

/** Makes the JSON values of a row, in the order of the columns. */
export function rowEncoder<Row, Context = void>(
  columns: readonly TableColumn<Row, Context>[],
): (row: Row, context: Context) => readonly unknown[] {
  const encoders = columns.map(({ encode }) => encode);
  return (row, context) => {
    // A plain loop: rows are made by the hundred thousand, and a callback for each costs a third.
    const values: unknown[] = [];
    for (const encode of encoders) values.push(encode(row, context));
    return values;
  };
}

/** A column of instants in milliseconds, which the table has as DateTime64(3, 'UTC'). */
export function millisecondColumn<Row, Context = void>(
  name: string,
  encode: (row: Row, context: Context) => number,
): TableColumn<Row, Context> {
  return { name, type: 'Int64', stored: `fromUnixTimestamp64Milli(${name}, 'UTC')`, encode };
}
