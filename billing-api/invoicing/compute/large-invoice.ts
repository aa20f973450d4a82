import type { InstantMs } from '../../../contract/instant.js';

/** An invoice has more buckets than may be computed here; it must be computed elsewhere. */
export class LargeInvoice extends Error {
  /** @param now the instant as of which it was asked for, by the clock of its environment. */
  constructor(readonly now: InstantMs) {
    super('the invoice has more buckets than may be computed here');
    this.name = 'LargeInvoice';
  }
}
