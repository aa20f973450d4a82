import type { AggregationType } from '../meter.js';

/** What the product answers today; the rest of the cases is generated and left out. */
export const SUPPORTED_TYPES: readonly AggregationType[] = ['COUNT'];
export const IS_AD_HOC_USAGE_SUPPORTED: boolean = false;
