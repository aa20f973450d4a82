import { sql, type FragmentSqlToken } from 'slonik';
import { formatInstant, type Interval } from '../../../contract/instant.js';
import type { CountedWindow } from '../../declarations/exports/task.resource.js';

/** A window, and what counts in its file: fixed by the first attempt (docs/domain.md 33.7). */
export type FixedWindow = { readonly window: Interval; readonly counted: CountedWindow };

/**
 * Whether an entry of the audit trail, `change`, belongs to the file of a window. Its instant lies
 * in the window or, however early it is, it was committed since the file before; and it was
 * committed when this file was fixed. What comes later is in the next file, so that each change is
 * in exactly one.
 */
export function isInWindow({ window, counted }: FixedWindow): FragmentSqlToken {
  const from = sql.fragment`${formatInstant(window.startMs)}::timestamptz`;
  const to = sql.fragment`${formatInstant(window.endMs)}::timestamptz`;
  const before = counted.since?.lastEntry ?? null;
  const since =
    before === null
      ? sql.fragment`change.created_at >= ${from}`
      : sql.fragment`(change.created_at >= ${from} OR change.entry_number > ${before})`;
  const { lastEntry } = counted;
  const until =
    lastEntry === null ? sql.fragment`TRUE` : sql.fragment`change.entry_number <= ${lastEntry}`;
  return sql.fragment`(change.created_at < ${to} AND ${since} AND ${until})`;
}
