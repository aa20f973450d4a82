import { buildInvoice } from '../../billing-api/domain/invoice/pricing/build-invoice.js';
import type { InvoiceInputs } from '../../billing-api/domain/invoice/invoice.js';
import type { BucketUsage } from '../../billing-api/domain/usage/line-usage.js';
import { formatMoney } from '../../billing-api/domain/money/money.js';
import {
  JANUARY,
  METER,
  USAGE_PRICE,
  usageLine,
} from '../../billing-api/testing/invoice-samples.js';
import { decimalOf, ZERO } from '../../contract/number/decimal.js';
import { MINUTE_MS } from '../../contract/instant.js';
import {
  chargeByHand,
  DAY,
  dollarsOf,
  NIGHT,
  OUTSIDE,
  OVERAGE_FACTOR,
  type MinuteRule,
} from './daily-commitment.js';
import { atMost, grouped, type Measurement } from './section.js';

const MINUTES_OF_DAY = 1_440;
const RUNS = 60;
const WARM_UP_RUNS = 10;
const MONTH_MS_MAX = 60;

/** The target's month of 30 days. */
const MINUTES = 30 * MINUTES_OF_DAY;

const usedIn = (minute: number): number => (minute % 3 === 0 ? 0 : (minute * 7_919) % 97);

function inputsOfMonth(): InvoiceInputs {
  const { startMs } = JANUARY.period;
  const buckets: BucketUsage[] = [];
  let usage = ZERO;
  for (let minute = 0; minute < MINUTES; minute += 1) {
    const used = usedIn(minute);
    if (used === 0) continue;
    const share = { usage: decimalOf(String(used)), eventCount: used };
    const at = startMs + minute * MINUTE_MS;
    buckets.push({ startMs: at, endMs: at + MINUTE_MS, groups: [{ text: '', ...share }] });
    usage = usage.plus(share.usage);
  }
  const terms = ({ committed }: MinuteRule) => ({
    type: 'amount' as const,
    value: decimalOf(dollarsOf(committed)),
    overageFactor: decimalOf(OVERAGE_FACTOR),
    isTrueUpEnabled: true,
  });
  const priceOf = ({ unitPrice }: MinuteRule) => ({
    ...USAGE_PRICE,
    amount: decimalOf(dollarsOf(unitPrice)),
  });
  const timeBuckets = [DAY, NIGHT].map((rule) => ({
    id: `from ${rule.startHour}`,
    startMinute: 60 * rule.startHour,
    endMinute: 60 * rule.endHour,
    terms: terms(rule),
    price: priceOf(rule),
  }));
  const lineItem = usageLine('calls', {
    meter: { ...METER, bucketSize: 'MINUTE' },
    price: priceOf(OUTSIDE),
    commitment: { terms: terms(OUTSIDE), isWindowed: true, duration: null, timeBuckets },
  });
  const period = { startMs, endMs: startMs + MINUTES * MINUTE_MS };
  const read = { usage, eventCount: usage.toNumber(), buckets, intervals: [] };
  return {
    ...JANUARY,
    period,
    lineItems: [lineItem],
    usage: new Map([['calls', { ...read, bySource: [], byGrouping: [] }]]),
  };
}

const median = (sorted: readonly number[]): number =>
  sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;

type Timed = { readonly sortedMs: readonly number[]; readonly expected: string };

/** @throws Error when an invoice is not what a count by hand says. */
function timePricing(onRun: (run: number) => void): Timed {
  const inputs = inputsOfMonth();
  const expected = chargeByHand(MINUTES, usedIn);
  const times: number[] = [];
  for (let run = 0; run < WARM_UP_RUNS + RUNS; run += 1) {
    const startedAt = performance.now();
    const { totals } = buildInvoice(inputs);
    if (run >= WARM_UP_RUNS) times.push(performance.now() - startedAt);
    const subtotal = formatMoney(totals.subtotal);
    if (subtotal !== expected) throw new Error(`${subtotal} usd, by hand ${expected}`);
    onRun(run);
  }
  return { sortedMs: times.toSorted((left, right) => left - right), expected };
}

/** The median of P8 in milliseconds, for what is measured beside it. */
export function pricingMedianMs(): number {
  return median(timePricing(() => undefined).sortedMs);
}

/** P8: a month of minute windows with commitments by the hour of the day, priced in memory. */
export const measurePurePricing: Measurement = (_options, progress) => {
  const { sortedMs, expected } = timePricing((run) =>
    progress((run + 1) / (WARM_UP_RUNS + RUNS), `${run + 1} invoices`),
  );
  const points = sortedMs.map((ms, index) => [(100 * (index + 1)) / RUNS, ms] as const);
  return Promise.resolve({
    title: `Pricing ${grouped(MINUTES)} minute windows in memory`,
    findings: [
      atMost(
        { id: 'P8', what: 'a month of minute windows, median', unit: 'ms' },
        median(sortedMs),
        MONTH_MS_MAX,
      ),
    ],
    plots: [
      {
        title: 'Time of one invoice',
        xLabel: 'percentile',
        yLabel: 'ms',
        series: [{ name: 'buildInvoice', points }],
      },
    ],
    notes: [`Every one of ${RUNS} invoices says ${expected} usd, as a count by hand does.`],
  });
};
