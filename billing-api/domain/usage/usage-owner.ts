import type { Interval } from '../../../contract/instant.js';

/** A customer whose events an invoice counts (docs/domain.md 29). */
export type UsageOwner = {
  readonly customerId: string;
  readonly externalId: string;
  /** The only times in which its events count, in their order; absent where all of them count. */
  readonly spans?: readonly Interval[];
};
