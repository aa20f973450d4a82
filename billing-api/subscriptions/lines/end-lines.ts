import { sql } from 'slonik';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Unit } from '../../records/unit.js';

/** Ends the lines of a subscription, or of one of its addons, where that ends. */
export async function endLines(
  { tx }: Unit,
  owner: { readonly column: 'subscription_id' | 'addon_association_id'; readonly id: string },
  atMs: InstantMs,
): Promise<void> {
  const at = formatInstant(atMs);
  await tx.query(sql.type(noRows)`
    UPDATE subscription_line_items SET end_date = greatest(start_date, ${at}::timestamptz)
    WHERE ${sql.identifier([owner.column])} = ${owner.id}
      AND (end_date IS NULL OR end_date > ${at}::timestamptz) AND ${isOfEnvironment}`);
}
