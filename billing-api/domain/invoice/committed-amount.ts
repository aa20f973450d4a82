import type { Decimal } from '../../../contract/number/decimal.js';
import type { InvoiceLine } from './invoice.js';

/** What a line used of the commitment of its subscription, or else of its own; null without one. */
export function committedAmountOf<C extends string>(line: InvoiceLine<C>): Decimal | null {
  const { kind, amount, trace, commitmentInfo, late } = line;
  if (late !== undefined) return late.committed;
  if (trace.commitment?.level === 'subscription') return kind === 'charge' ? amount.value : null;
  return commitmentInfo?.utilized.value ?? null;
}
