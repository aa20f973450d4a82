/**
 * What bounds the rows of one insert, so that each is one block, thus one part and all or nothing
 * (docs/architecture.md 3.4). A batch ends before it has too many; one record alone must fit.
 */

/** Rows of one block: the default of ClickHouse. */
export const BLOCK_ROWS_MAX = 1_048_449;

/** Events of one bulk request, and so of one record of the log (docs/http.md 1.7). */
export const BULK_EVENTS_MAX = 1_000;

/** Published meters of one event name in an environment (docs/http.md 1.7). */
export const METERS_OF_EVENT_NAME_MAX = 500;

/** A meter that is being changed counts on its version before and on its new one. */
export const STREAMS_OF_METER_MAX = 2;
