import { Decimal } from 'decimal.js';

/** An event as its sender writes it; every text is given, so that nothing depends on a clock. */
export type EventBody = {
  readonly event_name: string;
  readonly event_id: string;
  readonly external_customer_id?: string;
  readonly customer_id?: string;
  readonly source: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, string>>;
};

/** What a meter makes of the events of one minute; another type is another entry of `FOLDS`. */
export type Aggregation = 'COUNT' | 'SUM' | 'MAX';

export type UsageMeter = {
  readonly meterId: string;
  /** Index of the environment it belongs to. */
  readonly environment: number;
  readonly eventName: string;
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
  readonly aggregation: Aggregation;
};

/** The property that SUM and MAX read. */
export const VALUE_FIELD = 'amount';

/** Sums of any run fit: the amounts have 18 digits at most. */
const Exact = Decimal.clone({ precision: 60 });

const valuesOf = (events: readonly EventBody[]): readonly Decimal[] =>
  events.map(({ properties }) => new Exact(properties[VALUE_FIELD] ?? '0'));

/** Usage of one minute, from its distinct events, as an exact decimal. */
export const FOLDS: Readonly<Record<Aggregation, (events: readonly EventBody[]) => string>> = {
  COUNT: (events) => String(events.length),
  SUM: (events) =>
    valuesOf(events)
      .reduce((sum, value) => sum.plus(value))
      .toFixed(),
  MAX: (events) => Exact.max(...valuesOf(events)).toFixed(),
};

/** Column expression under which ClickHouse holds what `FOLDS` computes. */
export const STORED_AS: Readonly<Record<Aggregation, string>> = {
  COUNT: 'toString(sum(event_count))',
  SUM: 'toString(sum(value_sum))',
  MAX: 'toString(max(value_max))',
};

/** Whether the meter counts the event: name, and for each filter one of its values. */
export function isMetered(meter: UsageMeter, event: EventBody): boolean {
  if (event.event_name !== meter.eventName) return false;
  for (const { key, values } of meter.filters) {
    const value = event.properties[key];
    if (value === undefined || !values.includes(value)) return false;
  }
  return true;
}

/** Two tenants and three environments; the same event ids occur in each. */
export const ENVIRONMENTS = [
  { tenantId: 'tenant_a', environmentId: 'env_a_production' },
  { tenantId: 'tenant_a', environmentId: 'env_a_test' },
  { tenantId: 'tenant_b', environmentId: 'env_b_production' },
] as const;

const COUNT = { eventName: 'api.request', filters: [], aggregation: 'COUNT' } as const;

/** Meters that exist before the first event. */
export const FIRST_METERS: readonly UsageMeter[] = [
  { ...COUNT, meterId: 'a_requests', environment: 0 },
  {
    ...COUNT,
    meterId: 'a_reads',
    environment: 0,
    filters: [
      { key: 'method', values: ['GET', 'HEAD'] },
      { key: 'region', values: ['eu'] },
    ],
  },
  { ...COUNT, meterId: 'a_jobs', environment: 0, eventName: 'job.done' },
  {
    ...COUNT,
    meterId: 'test_writes',
    environment: 1,
    filters: [{ key: 'method', values: ['POST'] }],
  },
  { ...COUNT, meterId: 'b_requests', environment: 2 },
  { ...COUNT, meterId: 'a_amount', environment: 0, aggregation: 'SUM' },
  { ...COUNT, meterId: 'b_largest', environment: 2, aggregation: 'MAX' },
];

/** A meter that scenarios create while events flow. */
export const LATE_METER: UsageMeter = {
  ...COUNT,
  meterId: 'a_late_reads',
  environment: 0,
  filters: [{ key: 'method', values: ['GET'] }],
};
