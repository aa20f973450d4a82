import { AGGREGATION_TYPES, type AggregationType } from '../meter.js';

/** What the product answers today; cases are generated for everything and the rest is left out. */
export const SUPPORTED_TYPES: readonly AggregationType[] = AGGREGATION_TYPES;
/** Types whose meters may be created when events are stored: a backfill counts no values yet. */
export const BACKFILLED_TYPES: readonly AggregationType[] = ['COUNT'];
export const IS_AD_HOC_USAGE_SUPPORTED: boolean = false;
/**
 * Events and questions after this instant are left out: 2200 when everything is right. A backfill
 * counts events from 2106-02-07T06:28:16Z on in minutes that are 2^32 seconds too early.
 */
export const SUPPORTED_UNTIL: number = Date.parse('2106-02-01T00:00:00Z');
