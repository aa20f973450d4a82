import { sql, type FragmentSqlToken } from 'slonik';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Unit } from '../../records/unit.js';

/** Whose lines end: a subscription, or one of its addons. */
type LineOwner = {
  readonly column: 'subscription_id' | 'addon_association_id';
  readonly id: string;
};

/** The statement that ends the lines of a subscription, or of one of its addons. */
export function endOfLines({ column, id }: LineOwner, atMs: InstantMs): FragmentSqlToken {
  const at = formatInstant(atMs);
  return sql.fragment`
    UPDATE subscription_line_items SET end_date = greatest(start_date, ${at}::timestamptz)
    WHERE ${sql.identifier([column])} = ${id}
      AND (end_date IS NULL OR end_date > ${at}::timestamptz) AND ${isOfEnvironment}`;
}

/** Ends the lines of a subscription, or of one of its addons, where that ends. */
export async function endLines({ tx }: Unit, owner: LineOwner, atMs: InstantMs): Promise<void> {
  await tx.query(sql.type(noRows)`${endOfLines(owner, atMs)}`);
}
