import { sql } from 'slonik';
import { z } from 'zod';
import { instantColumn, numericColumn } from '../../sql/columns.js';
import { recordColumns } from '../records/records.js';
import { RECORD_MEMBERS } from '../records/search-table.js';
import type { Transaction } from '../records/unit.js';

const billingPeriod = z.enum(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL']);

const subscriptionRow = z.object({
  ...recordColumns,
  customer_id: z.string(),
  invoicing_customer_id: z.string().nullable(),
  plan_id: z.string(),
  parent_subscription_id: z.string().nullable(),
  lookup_key: z.string().nullable(),
  subscription_status: z.enum(['active', 'paused', 'cancelled', 'incomplete', 'trialing', 'draft']),
  subscription_type: z.enum([
    'standalone',
    'delegated_invoicing',
    'parent',
    'inherited',
    'grouped_invoicing',
  ]),
  currency: z.string(),
  billing_cadence: z.enum(['RECURRING', 'ONETIME']),
  billing_cycle: z.enum(['anniversary', 'calendar']),
  billing_period: billingPeriod,
  billing_period_count: z.number().int(),
  billing_anchor: instantColumn,
  start_date: instantColumn,
  end_date: instantColumn.nullable(),
  current_period_start: instantColumn,
  current_period_end: instantColumn,
  customer_timezone: z.string(),
  collection_method: z.string(),
  payment_behavior: z.string(),
  payment_terms: z.string().nullable(),
  gateway_payment_method_id: z.string().nullable(),
  auto_invoice_threshold: numericColumn.nullable(),
  proration_behavior: z.enum(['create_prorations', 'none']),
  synced_price_sequence: z.number().int(),
  cancel_at: instantColumn.nullable(),
  cancel_at_period_end: z.boolean(),
  cancelled_at: instantColumn.nullable(),
  trial_start: instantColumn.nullable(),
  trial_end: instantColumn.nullable(),
  commitment_amount: numericColumn.nullable(),
  commitment_duration: billingPeriod.nullable(),
  overage_factor: numericColumn.nullable(),
  enable_true_up: z.boolean(),
  pause_status: z.enum(['none', 'active', 'scheduled', 'completed', 'cancelled']),
  active_pause_id: z.string().nullable(),
  version: z.number().int(),
});
export type SubscriptionRow = z.output<typeof subscriptionRow>;

export const SUBSCRIPTIONS = {
  name: 'subscriptions',
  row: subscriptionRow,
  members: {
    ...RECORD_MEMBERS,
    customer_id: 'string',
    invoicing_customer_id: 'string',
    plan_id: 'string',
    parent_subscription_id: 'string',
    lookup_key: 'string',
    subscription_status: 'string',
    subscription_type: 'string',
    currency: 'string',
    billing_cadence: 'string',
    billing_cycle: 'string',
    billing_period: 'string',
    billing_period_count: 'number',
    billing_anchor: 'date',
    start_date: 'date',
    end_date: 'date',
    current_period_start: 'date',
    current_period_end: 'date',
    customer_timezone: 'string',
    collection_method: 'string',
    payment_behavior: 'string',
    payment_terms: 'string',
    gateway_payment_method_id: 'string',
    auto_invoice_threshold: 'number',
    proration_behavior: 'string',
    synced_price_sequence: 'number',
    cancel_at: 'date',
    cancel_at_period_end: 'boolean',
    cancelled_at: 'date',
    trial_start: 'date',
    trial_end: 'date',
    commitment_amount: 'number',
    commitment_duration: 'string',
    overage_factor: 'number',
    enable_true_up: 'boolean',
    pause_status: 'string',
    active_pause_id: 'string',
    version: 'number',
  },
} as const;

export async function findSubscription(
  transaction: Transaction,
  id: string,
): Promise<SubscriptionRow | null> {
  return transaction.maybeOne(sql.type(subscriptionRow)`
    SELECT * FROM subscriptions WHERE id = ${id}`);
}

/** As `findSubscription`; until the transaction ends nobody else changes it. */
export async function lockSubscription(
  transaction: Transaction,
  id: string,
): Promise<SubscriptionRow | null> {
  return transaction.maybeOne(sql.type(subscriptionRow)`
    SELECT * FROM subscriptions WHERE id = ${id} FOR UPDATE`);
}

/** The subscriptions of a customer that are or were in force, oldest first. */
export async function findSubscriptionsOfCustomer(
  transaction: Transaction,
  customerId: string,
): Promise<readonly SubscriptionRow[]> {
  return transaction.any(sql.type(subscriptionRow)`
    SELECT * FROM subscriptions
    WHERE customer_id = ${customerId} AND status = 'published' AND subscription_status <> 'draft'
    ORDER BY created_at, id`);
}

const lineItemRow = z.object({
  ...recordColumns,
  subscription_id: z.string(),
  customer_id: z.string(),
  entity_type: z.enum(['plan', 'addon', 'subscription']),
  entity_id: z.string(),
  price_id: z.string(),
  price_type: z.enum(['USAGE', 'FIXED']),
  meter_id: z.string().nullable(),
  meter_display_name: z.string().nullable(),
  plan_display_name: z.string().nullable(),
  display_name: z.string(),
  currency: z.string(),
  quantity: numericColumn,
  billing_period: z.enum([...billingPeriod.options, 'ONETIME']),
  billing_period_count: z.number().int(),
  invoice_cadence: z.enum(['ARREAR', 'ADVANCE']),
  start_date: instantColumn,
  end_date: instantColumn.nullable(),
  commitment_type: z.enum(['amount', 'quantity']).nullable(),
  commitment_amount: numericColumn.nullable(),
  commitment_quantity: numericColumn.nullable(),
  commitment_duration: billingPeriod.nullable(),
  commitment_overage_factor: numericColumn.nullable(),
  commitment_true_up_enabled: z.boolean(),
  commitment_windowed: z.boolean(),
});
export type LineItemRow = z.output<typeof lineItemRow>;

export const LINE_ITEMS = { name: 'subscription_line_items', row: lineItemRow } as const;

export async function findLineItem(
  transaction: Transaction,
  id: string,
): Promise<LineItemRow | null> {
  return transaction.maybeOne(sql.type(lineItemRow)`
    SELECT * FROM subscription_line_items WHERE id = ${id}`);
}

/** The line items of these subscriptions, in line order (domain.md 1). */
export async function findLineItems(
  transaction: Transaction,
  subscriptionIds: readonly string[],
): Promise<readonly LineItemRow[]> {
  if (subscriptionIds.length === 0) return [];
  return transaction.any(sql.type(lineItemRow)`
    SELECT * FROM subscription_line_items
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')})
      AND status = 'published'
    ORDER BY created_at, id`);
}
