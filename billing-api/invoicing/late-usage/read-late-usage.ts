import { sql } from 'slonik';
import { z } from 'zod';
import { instantColumn, integerColumn, numericColumn } from '../../../sql/columns.js';
import { givenLateUsage } from '../../declarations/platform/late-usage-rules.js';
import { findLateUsageRules, lateUsageOf } from '../../platform/settings/late-usage.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { Occasion } from '../../records/occasion.js';
import type { Page } from '../../records/search-records.js';
import { mustRead, type ReadDependencies } from '../../records/unit.js';
import type { LateUsageQuery } from './late-usage-dto.js';

const lateRow = z.object({
  invoice_id: z.string(),
  invoice_number: z.string().nullable(),
  customer_id: z.string(),
  subscription_id: z.string(),
  child_subscription_id: z.string().nullable(),
  subscription_line_item_id: z.string().nullable(),
  meter_id: z.string().nullable(),
  display_name: z.string(),
  period_start: instantColumn,
  period_end: instantColumn,
  currency: z.string(),
  quantity: numericColumn,
  amount: numericColumn,
  charged_quantity: numericColumn,
  charged_amount: numericColumn,
  charged_on: z.array(z.string()),
  event_count: integerColumn,
  first_received_at: instantColumn.nullable(),
  last_received_at: instantColumn.nullable(),
  seen_at: instantColumn,
  rules: givenLateUsage.nullable(),
  plan_rules: givenLateUsage.nullable(),
});
export type LateUsageRow = z.output<typeof lateRow> & {
  readonly policy: 'bill' | 'report' | 'reopen';
};

const STATES = {
  open: sql.fragment`(late.amount <> late.charged_amount OR late.quantity <> late.charged_quantity)`,
  charged: sql.fragment`(late.amount = late.charged_amount AND late.quantity = late.charged_quantity)`,
};

/** GET /billing/late-usage: what is known of late usage, the oldest period first. */
export function readLateUsage(
  dependencies: ReadDependencies,
  occasion: Occasion,
  query: LateUsageQuery,
): Promise<Page<LateUsageRow>> {
  const { limit = 50, offset = 0, state } = query;
  const equals = (column: string, value: string | undefined) =>
    value === undefined
      ? sql.fragment`true`
      : sql.fragment`${sql.identifier(column.split('.'))} = ${value}`;
  return mustRead(dependencies, occasion, async (unit) => {
    const { tenantId, environmentId } = unit.environment;
    const found = sql.fragment`
      FROM find_late_usage(${tenantId}, ${environmentId}) AS late
      JOIN subscriptions AS subscription ON subscription.id = late.subscription_id
        AND ${rowIsOfEnvironment('subscription')}
      JOIN plans AS plan ON plan.id = subscription.plan_id AND ${rowIsOfEnvironment('plan')}
      JOIN customers AS customer ON customer.id = late.customer_id AND ${rowIsOfEnvironment('customer')}
      WHERE ${equals('late.customer_id', query.customer_id)}
        AND ${equals('customer.external_id', query.external_customer_id)}
        AND ${equals('late.invoice_id', query.invoice_id)}
        AND ${equals('late.meter_id', query.meter_id)}
        AND (${query.subscription_id ?? null}::text IS NULL
          OR ${query.subscription_id ?? null} IN (late.subscription_id, late.child_subscription_id))
        AND ${state === undefined ? sql.fragment`true` : STATES[state]}`;
    const rows = await unit.tx.any(sql.type(lateRow)`
      SELECT late.*, subscription.late_usage AS rules, plan.late_usage AS plan_rules ${found}
      ORDER BY late.period_start, late.invoice_id, late.place
      LIMIT ${limit} OFFSET ${offset}`);
    const total = await unit.tx.oneFirst(sql.type(z.object({ count: integerColumn }))`
      SELECT count(*) AS count ${found}`);
    const rules = await findLateUsageRules(unit);
    const items = rows.map((row) => {
      const { policy } = lateUsageOf(rules, [row.rules, row.plan_rules]);
      return { ...row, policy };
    });
    return { items, pagination: { total, limit, offset } };
  });
}
