import type { InvoiceDto } from '../../billing-api/documents/answer/invoice-dto.js';
import type { LateUsageDto } from '../../billing-api/invoicing/late-usage/late-usage-dto.js';
import type { LeftoverDto } from '../../billing-api/runs/leftover-item.js';
import type { JobDto } from '../../billing-api/platform/jobs/job-item.js';
import { safeText } from './safe-text.js';

/** Samples of one metric by the value of its label, from the text of a page of metrics. */
function samplesOf(page: string, name: string, label: string): ReadonlyMap<string, number> {
  const lines = page.split('\n').filter((line) => line.startsWith(`${name}{`));
  return new Map(
    lines.map((line) => {
      const value = new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1];
      const figure = Number(/} (\S+)/.exec(line)?.[1]);
      if (value === undefined || Number.isNaN(figure)) throw new TypeError(`bad metric: ${line}`);
      return [value, figure];
    }),
  );
}

/** What should never be, in words, by the fault of the metric. */
export const FAULTS = {
  late_draft: 'drafts that are final an hour late',
  late_renewal: 'periods that are billed an hour late',
  missing_invoice: 'periods without an invoice',
  number_gap: 'series of numbers with a gap',
  late_overdue: 'unpaid invoices told of an hour late',
  future_period: 'periods that begin in the future',
} as const;
type Fault = keyof typeof FAULTS;

type Kind = 'renewal' | 'finalization' | 'held';

/** What a page of metrics says of the billing run, of all environments. */
export type BillingMetrics = {
  readonly due: Readonly<Record<Kind, number>>;
  readonly waitSeconds: Readonly<Record<Kind, number>>;
  readonly faults: Readonly<Record<Fault, number>>;
};

/** Null for a page of a program that does not bill. */
export function readBillingMetrics(page: string): BillingMetrics | null {
  const due = samplesOf(page, 'minutebook_billing_due', 'kind');
  const wait = samplesOf(page, 'minutebook_billing_wait_seconds', 'kind');
  const faults = samplesOf(page, 'minutebook_billing_faults', 'fault');
  // Absent means not a number: whoever does not bill, or has not looked yet, tells nothing.
  const figure = (samples: ReadonlyMap<string, number>, name: string): number =>
    samples.get(name) ?? Number.NaN;
  const figuresOf = (samples: ReadonlyMap<string, number>) => ({
    renewal: figure(samples, 'renewal'),
    finalization: figure(samples, 'finalization'),
    held: figure(samples, 'held'),
  });
  const found = {
    due: figuresOf(due),
    waitSeconds: figuresOf(wait),
    faults: {
      late_draft: figure(faults, 'late_draft'),
      late_renewal: figure(faults, 'late_renewal'),
      missing_invoice: figure(faults, 'missing_invoice'),
      number_gap: figure(faults, 'number_gap'),
      late_overdue: figure(faults, 'late_overdue'),
      future_period: figure(faults, 'future_period'),
    },
  };
  const figures = Object.values(found).flatMap((group) => Object.values(group));
  return figures.some(Number.isNaN) ? null : found;
}

type StatusCount = {
  readonly status: InvoiceDto['invoice_status'];
  /** At least this many; exactly unless there are very many. */
  readonly count: number;
  /** The oldest draft, or the newest of another status; null when there is none. */
  readonly shown: InvoiceDto | null;
};

/** What is told of the billing run. */
export type BillingState = {
  readonly metrics: BillingMetrics;
  readonly invoices: readonly StatusCount[];
  /** What the run has not collected, the oldest first. */
  readonly leftovers: readonly LeftoverDto[];
  /** Late usage that is not charged yet, the oldest period first, and how many lines of it. */
  readonly late: { readonly total: number; readonly shown: readonly LateUsageDto[] };
  /** Null when the key may not list jobs. */
  readonly parked: readonly JobDto[] | null;
};

/** `1 h 5 min`; below a minute in seconds. */
function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  const [days, hours, rest] = [
    Math.floor(minutes / 1_440),
    Math.floor(minutes / 60) % 24,
    minutes % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${rest} min` : `${rest} min`;
}

const row = (name: string, text: string): string => `  ${name.padEnd(38)}${text}`;

function dueText(count: number, waitSeconds: number): string {
  return count === 0 ? 'none' : `${count}, the oldest for ${durationText(waitSeconds)}`;
}

function invoiceText({ status, count, shown }: StatusCount): string {
  if (shown === null) return 'none';
  const { id, invoice_number: number, period_end: end } = shown;
  const name = `${number ?? id ?? ''}${end === null ? '' : `, of the period until ${end}`}`;
  return `${count}, the ${status === 'DRAFT' ? 'oldest' : 'newest'} ${name}`;
}

function parkedLines(parked: BillingState['parked']): readonly string[] {
  if (parked === null) return [row('parked work', 'not told: only to a super_admin')];
  if (parked.length === 0) return [row('parked work', 'none')];
  return parked.map(({ id, job, key, attempts, error }) => {
    const name = key === '' ? job : `${job} ${safeText(key)}`;
    return `  parked ${name} (${id}) after ${attempts} tries: ${safeText(error ?? 'no reason')}`;
  });
}

/** What nobody has collected: what it is, whose, and for how long. */
function leftoverLines(leftovers: readonly LeftoverDto[]): readonly string[] {
  if (leftovers.length === 0) return [row('left behind', 'none')];
  return leftovers.map((one) => {
    const { kind, invoice_id: invoice, subscription_id: subscription, meter_id: meter } = one;
    const what = invoice ?? `period until ${one.period_end ?? ''}`;
    const owners = `of ${subscription ?? 'no subscription'}, customer ${one.customer_id ?? ''}`;
    const waits = meter === null ? '' : `, waits for meter ${meter}`;
    const name = kind.replace('_', ' ');
    return `  left behind: ${name} ${what} ${owners}, for ${durationText(one.age_seconds)}${waits}`;
  });
}

/** What came after the invoice of its period: how much, on which invoice, and what is done. */
function lateLines({ total, shown }: BillingState['late']): readonly string[] {
  if (total === 0) return [row('late usage', 'none')];
  const lines = shown.map((one) => {
    const { invoice_number: number, invoice_id: id, policy } = one;
    const what = `${one.quantity} of ${safeText(one.display_name)} on ${number ?? id}`;
    return `  late usage: ${what}, ${one.open_amount} ${one.currency} not charged (${policy})`;
  });
  return total === shown.length ? lines : [...lines, `  late usage: ${total} lines in all`];
}

/** The invariants that are broken. */
export function faultsOf({ faults }: BillingMetrics): readonly string[] {
  return (Object.keys(FAULTS) as Fault[])
    .filter((fault) => faults[fault] > 0)
    .map((fault) => `${faults[fault]} ${FAULTS[fault]}`);
}

/** The state of the billing run as it is printed. */
export function billingLines({
  metrics,
  invoices,
  leftovers,
  late,
  parked,
}: BillingState): readonly string[] {
  const { due, waitSeconds, faults } = metrics;
  return [
    'All environments, read once a minute',
    row('periods to be billed', dueText(due.renewal, waitSeconds.renewal)),
    row('drafts past their delay', dueText(due.finalization, waitSeconds.finalization)),
    row('drafts that wait for a meter', dueText(due.held, waitSeconds.held)),
    ...(Object.keys(FAULTS) as Fault[]).map((fault) =>
      row(FAULTS[fault], faults[fault] === 0 ? 'none' : `${faults[fault]}  WRONG`),
    ),
    'Invoices of this environment',
    ...invoices.map((one) => row(one.status.toLowerCase(), invoiceText(one))),
    ...leftoverLines(leftovers),
    ...lateLines(late),
    ...parkedLines(parked),
  ];
}
