import type { JsonLimits } from '../../contract/check-json-limits.js';

/** What the body of an event request may hold (docs/http.md 1.7). */
export const EVENT_JSON_LIMITS: JsonLimits = {
  /**
   * A legal request has four levels (envelope, list, event, properties). The limit is higher, so
   * that a slightly wrong request gets a message about the member that is wrong.
   */
  depthMax: 32,
  /**
   * Higher than any legal request needs: 1000 events of 250 properties and eight members are
   * 258,000 values.
   */
  valuesMax: 300_000,
  /**
   * `JSON.parse` needs 15 ms for the worst of these texts. Measured on Node 20 with 32 MiB: open
   * brackets take 6 s, empty objects 9.5 s and 1.1 GB, distinct keys 2 GB; the check takes 0.1 s.
   */
  harmlessLengthMax: 256 * 1024,
};
