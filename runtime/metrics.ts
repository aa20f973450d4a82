import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/**
 * Every metric of the product, in one list: name, what it counts, labels. A program touches only
 * its own. Names: `minutebook_<noun>_<unit>`.
 */
// One list is worth more here than a short function: a reader finds every metric at one place.
// eslint-disable-next-line max-lines-per-function
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    /** Events answered 202 (or `accepted` in a bulk answer). */
    eventsAccepted: new Counter({
      name: 'minutebook_events_accepted_total',
      help: 'Events answered as accepted, after the log acknowledged them',
      registers,
    }),
    /** Events refused, by the error code of their answer. */
    eventsRefused: new Counter({
      name: 'minutebook_events_refused_total',
      help: 'Events answered with an error, by code',
      labelNames: ['code'] as const,
      registers,
    }),
    produceSeconds: new Histogram({
      name: 'minutebook_produce_seconds',
      help: 'Time from handing records to the log until its acknowledgement',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
      registers,
    }),
    httpSeconds: new Histogram({
      name: 'minutebook_http_request_seconds',
      help: 'Time of HTTP requests by route and status',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
      registers,
    }),
    /**
     * What became of the events of finished batches: counted, unmatched, duplicate, conflict (a
     * part of duplicate).
     */
    eventsProcessed: new Counter({
      name: 'minutebook_events_processed_total',
      help: 'Events of finished batches by outcome',
      labelNames: ['outcome'] as const,
      registers,
    }),
    /** Values of events taken as 0 because they could not be read, by the type of the meter. */
    unreadableValues: new Counter({
      name: 'minutebook_unreadable_values_total',
      help: 'Event values of finished batches taken as 0: missing, no number, out of range',
      labelNames: ['type'] as const,
      registers,
    }),
    recordsDeadLettered: new Counter({
      name: 'minutebook_records_dead_lettered_total',
      help: 'Log records that could not be decoded, by reason',
      labelNames: ['reason'] as const,
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'minutebook_batch_seconds',
      help: 'Time from intent to finish of a batch',
      buckets: [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30],
      registers,
    }),
    partitionLag: new Gauge({
      name: 'minutebook_partition_lag_records',
      help: 'Records of the log that are not finished yet',
      labelNames: ['partition'] as const,
      registers,
    }),
    partitionEpoch: new Gauge({
      name: 'minutebook_partition_epoch',
      help: 'Epoch under which this process owns a partition; 0 when it does not',
      labelNames: ['partition'] as const,
      registers,
    }),
    partitionTakes: new Counter({
      name: 'minutebook_partition_takes_total',
      help: 'Times a partition was taken, by reason',
      labelNames: ['reason'] as const,
      registers,
    }),
    /** Partitions that stopped because the stores contradict each other; each needs an operator. */
    partitionsHalted: new Gauge({
      name: 'minutebook_partitions_halted',
      help: 'Partitions that stopped with an alarm',
      registers,
    }),
    filterWarmSeconds: new Histogram({
      name: 'minutebook_filter_warm_seconds',
      help: 'Time until the id filter of a partition was complete, by how: rebuilt, caught_up, kept',
      labelNames: ['how'] as const,
      buckets: [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300],
      registers,
    }),
    /** Of the last closed hours and all environments; anything but 0 is an alarm. */
    reconciliationDifference: new Gauge({
      name: 'minutebook_reconciliation_difference_events',
      help: 'Events decoded and not stored, or stored and not decoded, in the last closed hours',
      registers,
    }),
    /** Of meters as they were last recounted; anything but 0 is an alarm. */
    usageDrift: new Gauge({
      name: 'minutebook_usage_drift_events',
      help: 'Events that minute rows have too many or too few against the stored events',
      registers,
    }),
    /** The two figures above say nothing newer than this. */
    booksChecked: new Gauge({
      name: 'minutebook_books_checked_timestamp_seconds',
      help: 'When the books were last checked, in Unix time; 0 until then',
      registers,
    }),
    knownIds: new Gauge({
      name: 'minutebook_known_event_ids',
      help: 'Event ids in the filters of the owned partitions',
      registers,
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
