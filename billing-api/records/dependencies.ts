import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/ids.js';
import type { BillingDatabase } from './transaction.js';

/** What a use case that reads needs. */
export type Reading = { readonly database: BillingDatabase };

/** What a use case that writes needs. */
export type Writing = Reading & { readonly clock: Clock; readonly createId: IdSource };
