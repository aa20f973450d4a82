import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** A program as its metrics name it, in the label `program`. */
export type ProgramName = 'ingest' | 'billing-api' | 'aggregator';

/**
 * How often the lag of the event loop is measured; what is shown includes it. Every 10 ms, as by
 * default, would wake each program a hundred times a second at rest.
 */
const LOOP_TICK_MS = 100;

/**
 * Every metric of the product: name, meaning, labels. Names are `minutebook_<noun>_<unit>`.
 * @param program shows its own metrics only, each with the label `program`, since one page can show
 *   those of two programs. Without it all metrics are shown, without that label.
 */
// One complete list is worth more here than a short function.
// eslint-disable-next-line max-lines-per-function
export function createMetrics(program?: ProgramName) {
  const registry = new Registry();
  if (program !== undefined) registry.setDefaultLabels({ program });
  const shownBy = (...programs: readonly ProgramName[]): Registry[] =>
    program === undefined || programs.includes(program) ? [registry] : [];
  const bodyReaders = new Map<string, () => number>();
  let readReportAge: (() => number) | null = null;
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_TICK_MS });
  new Gauge({
    name: 'minutebook_body_bytes',
    help: 'Memory held by request bodies that are read or processed, by routes',
    labelNames: ['routes'] as const,
    registers: shownBy('ingest', 'billing-api'),
    collect() {
      for (const [routes, read] of bodyReaders) this.set({ routes }, read());
    },
  });
  new Gauge({
    name: 'minutebook_report_age_seconds',
    help: 'How long ago PostgreSQL took a report of which events this process holds',
    registers: shownBy('ingest'),
    collect() {
      if (readReportAge !== null) this.set(readReportAge());
    },
  });
  return {
    registry,
    /** Reads the bytes of request bodies when they are asked for; counting each would cost more. */
    watchBodyBytes: (routes: 'events' | 'rest', read: () => number) => {
      bodyReaders.set(routes, read);
    },
    /** Reads for how long no report of what ingest holds was taken. */
    watchReportAge: (readSeconds: () => number) => {
      readReportAge = readSeconds;
    },
    httpConnections: new Gauge({
      name: 'minutebook_http_connections',
      help: 'Open connections of the HTTP interface',
      registers: shownBy('ingest', 'billing-api', 'aggregator'),
    }),
    /** Events answered with 202, or with `accepted` in a bulk answer. */
    eventsAccepted: new Counter({
      name: 'minutebook_events_accepted_total',
      help: 'Events answered as accepted, after the log acknowledged them',
      registers: shownBy('ingest'),
    }),
    /** Events refused, by the error code of their answer. */
    eventsRefused: new Counter({
      name: 'minutebook_events_refused_total',
      help: 'Events answered with an error, by code',
      labelNames: ['code'] as const,
      registers: shownBy('ingest'),
    }),
    staleKeyUses: new Counter({
      name: 'minutebook_stale_key_uses_total',
      help: 'Times that an API key was accepted for a second as last read, for want of PostgreSQL',
      registers: shownBy('ingest'),
    }),
    produceSeconds: new Histogram({
      name: 'minutebook_produce_seconds',
      help: 'Time from handing records to the log until its acknowledgement',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
      registers: shownBy('ingest'),
    }),
    httpSeconds: new Histogram({
      name: 'minutebook_http_request_seconds',
      help: 'Time of HTTP requests by route and status',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
      registers: shownBy('ingest', 'billing-api'),
    }),
    /**
     * Events of finished batches by outcome: counted, unmatched, duplicate, conflict (a part of
     * duplicate).
     */
    eventsProcessed: new Counter({
      name: 'minutebook_events_processed_total',
      help: 'Events of finished batches by outcome',
      labelNames: ['outcome'] as const,
      registers: shownBy('aggregator'),
    }),
    /** Values of events that could not be read, by the type of the meter. */
    unreadableValues: new Counter({
      name: 'minutebook_unreadable_values_total',
      help: 'Event values of finished batches that are unreadable: missing, no number, out of range',
      labelNames: ['type'] as const,
      registers: shownBy('aggregator'),
    }),
    recordsDeadLettered: new Counter({
      name: 'minutebook_records_dead_lettered_total',
      help: 'Log records that could not be decoded, by reason',
      labelNames: ['reason'] as const,
      registers: shownBy('aggregator'),
    }),
    batchSeconds: new Histogram({
      name: 'minutebook_batch_seconds',
      help: 'Time from intent to finish of a batch',
      buckets: [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30],
      registers: shownBy('aggregator'),
    }),
    logRemovalShare: new Gauge({
      name: 'minutebook_log_removal_ratio',
      help: 'Share of the retention of Kafka that the oldest uncounted record has used; at 1 it may be removed',
      labelNames: ['partition'] as const,
      registers: shownBy('aggregator'),
    }),
    rawEventsBegin: new Gauge({
      name: 'minutebook_raw_events_begin_seconds',
      help: 'Unix time before which raw events are removed by retention; 0 while all are kept',
      registers: shownBy('aggregator'),
    }),
    partitionLag: new Gauge({
      name: 'minutebook_partition_lag_records',
      help: 'Records of the log that are not finished yet',
      labelNames: ['partition'] as const,
      registers: shownBy('aggregator'),
    }),
    /** Of the process that owns partition 0; the greatest of all processes counts. */
    countedUntil: new Gauge({
      name: 'minutebook_counted_until_timestamp_seconds',
      help: 'Unix time before which all received events are noted as counted; 0 until this process notes one',
      registers: shownBy('aggregator'),
    }),
    partitionEpoch: new Gauge({
      name: 'minutebook_partition_epoch',
      help: 'Epoch under which this process owns a partition; 0 when it does not',
      labelNames: ['partition'] as const,
      registers: shownBy('aggregator'),
    }),
    partitionTakes: new Counter({
      name: 'minutebook_partition_takes_total',
      help: 'Times a partition was taken, by reason',
      labelNames: ['reason'] as const,
      registers: shownBy('aggregator'),
    }),
    /** Partitions that stopped because the stores contradict each other; each needs an operator. */
    partitionsHalted: new Gauge({
      name: 'minutebook_partitions_halted',
      help: 'Partitions that stopped with an alarm',
      registers: shownBy('aggregator'),
    }),
    filterWarmSeconds: new Histogram({
      name: 'minutebook_filter_warm_seconds',
      help: 'Time until the id filter of a partition was complete (rebuilt, caught_up or kept)',
      labelNames: ['how'] as const,
      buckets: [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300],
      registers: shownBy('aggregator'),
    }),
    /** For the last closed hours of all environments. A value other than 0 is an alarm. */
    reconciliationDifference: new Gauge({
      name: 'minutebook_reconciliation_difference_events',
      help: 'Events decoded and not stored, or stored and not decoded, in the last closed hours',
      registers: shownBy('billing-api'),
    }),
    /** From the last recount of each meter. A value other than 0 is an alarm. */
    usageDrift: new Gauge({
      name: 'minutebook_usage_drift_events',
      help: 'Events that minute rows hold too many or too few, compared with the stored events',
      registers: shownBy('billing-api'),
    }),
    /** The time of the two figures above. */
    reconciledAt: new Gauge({
      name: 'minutebook_reconciliation_timestamp_seconds',
      help: 'When the last reconciliation ran, in Unix time; 0 before the first',
      registers: shownBy('billing-api'),
    }),
    meterWait: new Gauge({
      name: 'minutebook_meter_wait_seconds',
      help: 'For how long the oldest meter has waited to be applied to stored events; 0 when none waits',
      registers: shownBy('billing-api'),
    }),
    openLateUsage: new Gauge({
      name: 'minutebook_late_usage_open',
      help: 'Lines of final invoices of which usage came later that is not charged yet',
      registers: shownBy('billing-api'),
    }),
    billingDue: new Gauge({
      name: 'minutebook_billing_due',
      help: 'Subscriptions whose period has ended (renewal), drafts whose delay is over (finalization), and those of them that wait for a meter (held)',
      labelNames: ['kind'],
      registers: shownBy('billing-api'),
    }),
    billingWait: new Gauge({
      name: 'minutebook_billing_wait_seconds',
      help: 'For how long the oldest of what is due has waited, by kind; 0 when nothing is',
      labelNames: ['kind'],
      registers: shownBy('billing-api'),
    }),
    billingFaults: new Gauge({
      name: 'minutebook_billing_faults',
      help: 'What the billing run should never leave: late_draft, late_renewal, late_overdue, missing_invoice, number_gap, future_period',
      labelNames: ['fault'],
      registers: shownBy('billing-api'),
    }),
    jobSeconds: new Histogram({
      name: 'minutebook_job_seconds',
      help: 'Time of one run of a job, by job and outcome (done or failed)',
      labelNames: ['job', 'outcome'] as const,
      buckets: [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800],
      registers: shownBy('billing-api', 'aggregator'),
    }),
    jobLastRun: new Gauge({
      name: 'minutebook_job_last_run_timestamp_seconds',
      help: 'When a job last ran without a failure, in Unix time; 0 before the first',
      labelNames: ['job'] as const,
      registers: shownBy('billing-api', 'aggregator'),
    }),
    jobsDue: new Gauge({
      name: 'minutebook_jobs_due',
      help: 'Items of a job that are due and not done',
      labelNames: ['job'] as const,
      registers: shownBy('billing-api', 'aggregator'),
    }),
    jobWait: new Gauge({
      name: 'minutebook_job_wait_seconds',
      help: 'For how long the oldest item of a job has been due and not done; 0 when none is',
      labelNames: ['job'] as const,
      registers: shownBy('billing-api', 'aggregator'),
    }),
    jobFailures: new Gauge({
      name: 'minutebook_job_failures',
      help: 'How often the worst of the waiting items of a job has failed, one after the other',
      labelNames: ['job'] as const,
      registers: shownBy('billing-api', 'aggregator'),
    }),
    jobsParked: new Gauge({
      name: 'minutebook_jobs_parked',
      help: 'Items of a job that failed too often and wait for an operator',
      labelNames: ['job'] as const,
      registers: shownBy('billing-api', 'aggregator'),
    }),
    knownIds: new Gauge({
      name: 'minutebook_known_event_ids',
      help: 'Event ids in the filters of the owned partitions',
      registers: shownBy('aggregator'),
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
