import { compare, zero } from '../../usage-oracle/fraction.js';
import { advanceLines, cycleLines } from './charges.js';
import { runningOf, type Life, type Line, type ModelInvoice, type Row } from './life.js';
import { movePeriod } from './rows.js';

/** How long an invoice of a period stays a draft (docs/domain.md 16). */
export const DELAY_MS = 7_200_000;

/** All subscriptions of an environment, and what time it is there. */
export type ModelWorld = {
  now: number;
  readonly lives: Map<string, Life>;
  /** How many subscriptions are made at most, beside successors. */
  readonly livesMax: number;
};

/** Stores an invoice that is finalized at once; one without an amount is skipped (5.2). */
export function invoiceNow(
  life: Life,
  { reason, start, end, lines }: Pick<ModelInvoice, 'reason' | 'start' | 'end' | 'lines'>,
): ModelInvoice {
  const made = { reason, start, end, lines, setOff: zero, finalizeAt: null, compute: () => lines };
  life.invoices.push(made);
  return made;
}

export function hasAmount(lines: readonly Line[]): boolean {
  return lines.some(({ amount }) => compare(amount, zero) !== 0);
}

/** The invoice that closes a row, a draft until its delay is over. */
export function draftCycle(life: Life, row: Row, next: Row | null): void {
  const invoice: ModelInvoice = {
    reason: 'SUBSCRIPTION_CYCLE',
    start: row.start,
    end: row.end,
    lines: [],
    setOff: zero,
    finalizeAt: row.end + DELAY_MS,
    compute: () => cycleLines(life, { row, next, own: invoice }),
  };
  life.invoices.push(invoice);
  invoice.lines = invoice.compute();
}

/** Computes all drafts again, after a change of what they bill. */
export function computeDrafts(life: Life): void {
  for (const invoice of life.invoices) {
    if (invoice.finalizeAt !== null) invoice.lines = invoice.compute();
  }
}

/** Ends the pause at an instant, and makes the running row as much longer. */
export function completePause(life: Life, at: number): void {
  const { pause } = life;
  if (pause === null) throw new Error('no pause');
  movePeriod(life, { start: pause.start, end: at });
  life.pause = null;
  life.status = 'active';
}

/** Resumes at an instant, and charges what was held back (docs/domain.md 26). */
export function resumeAt(life: Life, at: number): void {
  completePause(life, at);
  const row = runningOf(life);
  if (!row.isHeld) return;
  row.isHeld = false;
  invoiceNow(life, {
    reason: 'SUBSCRIPTION_UPDATE',
    start: row.start,
    end: row.end,
    lines: advanceLines(life, row),
  });
}
