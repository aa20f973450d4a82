import type { JsonLimits } from '../../contract/check-json-limits.js';

/** What a body may hold (docs/http.md 1.7). */
export const REST_JSON_LIMITS: JsonLimits = {
  /** No request of this API is nested as deep; the bound protects functions that recurse. */
  depthMax: 32,
  /** The largest valid request, 100 prices in bulk with 100 tiers each, has fewer than 45,000. */
  valuesMax: 60_000,
  harmlessLengthMax: 16 * 1024,
};

export const TOO_DEEP = `the body is nested deeper than ${REST_JSON_LIMITS.depthMax} levels: send it flatter`;
export const TOO_MANY_VALUES = `the body has more than ${REST_JSON_LIMITS.valuesMax} values, members and list elements together: send it in several requests`;
