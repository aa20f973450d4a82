import { createHash } from 'node:crypto';
import { z } from 'zod';
import { plain } from '../../../contract/number/decimal.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { invalid, Refusal } from '../../records/refusal.js';
import type { StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import type { ChangedPlan } from './carry-out-change.js';

/** What a preview of a change has shown, figure by figure. */
export type ShownFigures = Readonly<Record<string, string>>;

/** A preview: the instant that it shows, and its figures. */
export type ShownChange = { readonly atMs: InstantMs; readonly figures: ShownFigures };

/** How long a preview can be executed. */
const LIFETIME_MS = 15 * 60_000;

const token = z.object({ at: z.number().int(), figures: z.record(z.string(), z.string()) });

/** The sums of an invoice, and a digest of its lines. */
function figuresOfInvoice(name: string, invoice: StoredInvoice | null): ShownFigures {
  if (invoice === null) return { [name]: 'none' };
  const { row, parts } = invoice;
  const lines = parts.lines.map(({ display_name: text, amount, quantity }) => [
    text,
    plain(amount),
    plain(quantity),
  ]);
  const digest = createHash('sha256').update(JSON.stringify(lines)).digest('base64url');
  return {
    [`total of the ${name}`]: plain(row.total),
    [`tax of the ${name}`]: plain(row.total_tax),
    [`prepaid credits on the ${name}`]: plain(row.total_prepaid_credits_applied),
    [`lines of the ${name}`]: digest.slice(0, 16),
  };
}

/** Everything about a change of plan that an execution must not do otherwise. */
export function figuresOf({
  change,
  after,
  final,
  opening,
  ...changed
}: ChangedPlan): ShownFigures {
  return {
    subscription: `${change.loaded.subscription.id} version ${change.loaded.subscription.version}`,
    plan: `${after.plan_id}`,
    period: `${formatInstant(after.current_period_start)} – ${formatInstant(after.current_period_end)}`,
    credit: plain(changed.credit.net),
    'taxes of the credit': plain(changed.credit.tax),
    'credit that lowers unpaid invoices': plain(changed.credit.lowered),
    charge: plain(changed.charge),
    ...figuresOfInvoice('final invoice', final),
    ...figuresOfInvoice('opening invoice', opening),
  };
}

/** The token by which a preview is executed as it was shown. */
export function tokenOf(changed: ChangedPlan): string {
  const text = JSON.stringify({ at: changed.change.atMs, figures: figuresOf(changed) });
  return Buffer.from(text).toString('base64url');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return null;
  }
}

/** Reads the token of a preview; one that is too old is refused, and so is any other text. */
export function readToken(text: string, now: InstantMs): ShownChange | Refusal {
  const read = token.safeParse(parsed(text));
  if (!read.success) return invalid({ preview_token: 'is not one that a preview has answered' });
  const { at: atMs, figures } = read.data;
  if (atMs <= now && atMs > now - LIFETIME_MS) return { atMs, figures };
  const problem = `the preview shows ${formatInstant(atMs)}, more than 15 minutes ago; preview again`;
  return new Refusal('version_conflict', problem);
}

/** What differs from what a preview has shown; null when nothing does. */
export function differenceFrom(shown: ShownChange, figures: ShownFigures): Refusal | null {
  const names = new Set([...Object.keys(shown.figures), ...Object.keys(figures)]);
  const changed = [...names].filter((name) => shown.figures[name] !== figures[name]);
  if (changed.length === 0) return null;
  return new Refusal(
    'version_conflict',
    `not as the preview showed it any more: ${changed.join(', ')}; preview again`,
  );
}
