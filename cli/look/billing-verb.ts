import type { Command } from 'commander';
import type { InvoiceListDto } from '../../billing-api/documents/answer/invoice-dto.js';
import type { LateUsageListDto } from '../../billing-api/invoicing/late-usage/late-usage-dto.js';
import type { LeftoverListDto } from '../../billing-api/runs/leftover-item.js';
import type { JobListDto } from '../../billing-api/platform/jobs/job-item.js';
import { UnexpectedAnswer, type ApiClient } from './api-client.js';
import { VerbRefused } from '../stack/verb-refused.js';
import {
  billingLines,
  faultsOf,
  readBillingMetrics,
  type BillingMetrics,
  type BillingState,
} from './billing-lines.js';
import { askProduct } from './product.js';

const STATUSES = ['DRAFT', 'FINALIZED', 'SKIPPED', 'VOIDED'] as const;
const PARKED_MAX = 50;
const LEFTOVERS_MAX = 50;
const LATE_MAX = 20;

async function readMetrics({ baseUrl }: ApiClient): Promise<BillingMetrics> {
  const address = `${baseUrl.replace(/\/v1$/, '')}/metrics`;
  const response = await fetch(address);
  const text = await response.text();
  if (!response.ok) throw new UnexpectedAnswer(response.status, text);
  const metrics = readBillingMetrics(text);
  if (metrics !== null) return metrics;
  const remedy = 'wait a minute after the start, or set MINUTEBOOK_URL to a billing-api';
  throw new VerbRefused(`${address} does not tell of the billing run: ${remedy}`);
}

async function countInvoices(
  api: ApiClient,
  status: (typeof STATUSES)[number],
): Promise<BillingState['invoices'][number]> {
  const direction = status === 'DRAFT' ? 'asc' : 'desc';
  const { items, pagination } = await api.post<InvoiceListDto>('/invoices/search', {
    invoice_status: [status],
    limit: 1,
    skip_line_items: true,
    sort: [{ field: 'created_at', direction }],
  });
  return { status, count: pagination.total, shown: items[0] ?? null };
}

async function readParked(api: ApiClient): Promise<BillingState['parked']> {
  try {
    const path = `/jobs?status=parked&limit=${PARKED_MAX}`;
    return (await api.get<JobListDto>(path)).items;
  } catch (error) {
    if (error instanceof UnexpectedAnswer && error.status === 403) return null;
    throw error;
  }
}

async function readLate(api: ApiClient): Promise<BillingState['late']> {
  const path = `/billing/late-usage?state=open&limit=${LATE_MAX}`;
  const { items, pagination } = await api.get<LateUsageListDto>(path);
  return { total: pagination.total, shown: items };
}

/** The state of the billing run, as a running product tells it. */
export async function readBillingState(api: ApiClient): Promise<BillingState> {
  return {
    metrics: await readMetrics(api),
    invoices: await Promise.all(STATUSES.map((status) => countInvoices(api, status))),
    leftovers: (await api.get<LeftoverListDto>(`/billing/leftovers?limit=${LEFTOVERS_MAX}`)).items,
    late: await readLate(api),
    parked: await readParked(api),
  };
}

async function billing(): Promise<void> {
  const state = await askProduct(process.env, readBillingState);
  console.log(billingLines(state).join('\n'));
  const faults = faultsOf(state.metrics);
  if (faults.length > 0) throw new VerbRefused(`the billing run is WRONG: ${faults.join(', ')}`);
}

/** Adds the verb that shows the state of the billing run. */
export function addBillingVerb(program: Command): void {
  program
    .command('billing')
    .description('show what the billing run has to do, has done, and left undone')
    .action(billing);
}
