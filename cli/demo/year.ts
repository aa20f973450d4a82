import { setTimeout as sleep } from 'node:timers/promises';
import pc from 'picocolors';
import type { ApiClient } from '../look/api-client.js';
import { tableLines } from '../look/tables.js';
import { openEnvironment, turnTo } from './turned-clock.js';

const START = '2026-01-01T00:00:00.000Z';
const CALLS = 500;
const POLL_MS = 200;
const POLLS_MAX = 1_500;

type Invoice = {
  readonly id: string;
  readonly invoice_number: string | null;
  readonly invoice_status: string;
  readonly billing_reason: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly total: string;
};

async function makePlan(api: ApiClient, name: string, amount: string): Promise<string> {
  const { id } = await api.post<{ id: string }>('/plans', { name });
  const price = { entity_id: id, currency: 'usd', amount, display_name: `${name} fee` };
  await api.post('/prices', { ...price, invoice_cadence: 'ADVANCE' });
  return id;
}

/** A price for calls on a plan, and 500 calls in April that are counted when this resolves. */
async function useTeam(api: ApiClient, planId: string): Promise<void> {
  const { id: meterId } = await api.post<{ id: string }>('/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: { type: 'COUNT' },
  });
  const price = { entity_id: planId, currency: 'usd', amount: '0.01', display_name: 'Calls' };
  await api.post('/prices', { ...price, meter_id: meterId });
  const events = Array.from({ length: CALLS }, (_, index) => ({
    event_id: `call-${index}`,
    event_name: 'call',
    external_customer_id: 'acme',
    timestamp: '2026-04-10T00:00:00.000Z',
  }));
  await api.post('/events/bulk', { events });
  const question = {
    event_name: 'call',
    aggregation_type: 'COUNT',
    external_customer_id: 'acme',
    start_time: START,
    end_time: '2026-12-31T00:00:00.000Z',
  };
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const { value } = await api.post<{ value: string }>('/events/usage', question);
    if (Number(value) === CALLS) return;
    await sleep(POLL_MS);
  }
  throw new Error('the calls of the year were not counted');
}

/** Trial, upgrade in mid-month, pause, cancellation. Resolves to the last subscription. */
async function live(api: ApiClient, clockId: string): Promise<string> {
  const starter = await makePlan(api, 'Starter', '30');
  const team = await makePlan(api, 'Team', '100');
  await api.post('/customers', { external_id: 'acme', name: 'Acme Ltd' });
  await useTeam(api, team);
  const { id: first } = await api.post<{ id: string }>('/subscriptions', {
    external_customer_id: 'acme',
    plan_id: starter,
    currency: 'usd',
    billing_period: 'MONTHLY',
    trial_period_days: 14,
    start_date: START,
  });
  await turnTo(api, clockId, '2026-03-25T00:00:00.000Z');
  const changed = await api.post<{ new_subscription: { id: string } }>(
    `/subscriptions/${first}/change/execute`,
    {
      target_plan_id: team,
      proration_behavior: 'create_prorations',
      billing_cadence: 'RECURRING',
      billing_cycle: 'anniversary',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
    },
  );
  const { id: second } = changed.new_subscription;
  await turnTo(api, clockId, '2026-06-10T00:00:00.000Z');
  await api.post(`/subscriptions/${second}/pause`, { pause_mode: 'immediate', pause_days: 30 });
  await turnTo(api, clockId, '2026-10-05T00:00:00.000Z');
  await api.post(`/subscriptions/${second}/cancel`, { cancellation_type: 'end_of_period' });
  await turnTo(api, clockId, '2027-01-01T00:00:00.000Z');
  return second;
}

const dayOf = (instant: string): string => instant.slice(0, 10);

/** What a year has left behind. */
export type Year = {
  readonly invoices: readonly Invoice[];
  /** Whether each invoice computes again to the same. */
  readonly areSame: readonly boolean[];
  /** Of all balances of the ledger. */
  readonly sum: string;
  readonly status: string;
};

function printYear({ invoices, areSame, sum, status }: Year): void {
  const header = ['Invoice', 'reason', 'from', 'to', 'total', 'verify'];
  const rows = invoices.map((invoice, index) => [
    invoice.invoice_number ?? invoice.invoice_status,
    invoice.billing_reason,
    dayOf(invoice.period_start),
    dayOf(invoice.period_end),
    `${invoice.total} usd`,
    areSame[index] === true ? 'same' : 'DIFFERENT',
  ]);
  console.log(`\n${pc.bold('A year of one customer, on a clock that is turned by hand')}`);
  console.log(
    '14 days of trial, an upgrade on 25 March, 500 calls at 0.01 in April, a pause of 30',
  );
  console.log('days from 10 June, and in October a cancellation for the end of the period:');
  for (const line of tableLines(header, rows)) console.log(line);
  console.log(`The subscription is ${status}; the balances of the ledger add up to ${sum}.`);
}

/** Lives a year of one customer in an environment of its own. */
export async function liveYear(baseUrl: string): Promise<Year> {
  const api = await openEnvironment(baseUrl);
  const { id: clockId } = await api.post<{ id: string }>('/test_clocks', {
    name: 'year',
    now: START,
  });
  const last = await live(api, clockId);
  const { items: invoices } = await api.post<{ items: readonly Invoice[] }>('/invoices/search', {
    limit: 100,
    skip_line_items: true,
    sort: [{ field: 'created_at', direction: 'asc' }],
  });
  const areSame: boolean[] = [];
  for (const { id } of invoices) {
    const verified = await api.get<{ same_from_inputs: boolean }>(`/invoices/${id}/verify`);
    areSame.push(verified.same_from_inputs);
  }
  const { sum } = await api.get<{ sum: string }>('/ledger/balances?currency=usd');
  const subscription = await api.get<{ subscription_status: string }>(`/subscriptions/${last}`);
  return { invoices, areSame, sum, status: subscription.subscription_status };
}

/** Lives and prints the year. Resolves to whether every invoice computes again to the same. */
export async function runYear(baseUrl: string): Promise<boolean> {
  const year = await liveYear(baseUrl);
  printYear(year);
  return year.areSame.every(Boolean) && Number(year.sum) === 0 && year.status === 'cancelled';
}
