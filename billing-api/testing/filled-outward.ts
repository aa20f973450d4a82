import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createId } from '../../runtime/ids.js';
import type { Database } from '../../sql/pool.js';
import type { BillingUnderTest } from './billing-harness.js';

/** What requests about what leaves the building name. */
export type OutwardIdKind =
  | 'connection'
  | 'invoice_connection'
  | 'synced_invoice'
  | 'spare_connection'
  | 'scheduled_task'
  | 'spare_scheduled_task'
  | 'task'
  | 'done_task'
  | 'linked_customer'
  | 'webhook_endpoint'
  | 'spare_webhook_endpoint'
  | 'webhook_delivery'
  | 'webhook_event';

type OutwardIds = Readonly<Record<OutwardIdKind, string>>;

type Make = (path: string, body: object) => Promise<{ readonly id: string }>;
type Call = BillingUnderTest['call'];

type Stores = { readonly database: Database; readonly environment: Environment };

/** Endpoints that get system events, and a delivery that waits. */
async function makeWebhooks({ database, environment }: Stores, make: Make) {
  const endpointOf = (path: string) =>
    make('/v1/webhooks/endpoints', { url: `http://127.0.0.1:9/${path}` });
  const endpoint = await endpointOf('hook');
  const spare = await endpointOf('old');
  const { tenantId, environmentId } = environment;
  const id = createId('whdel');
  const { event } = await ownerOf(database).one(sql.type(z.object({ event: z.string() }))`
    INSERT INTO webhook_deliveries (id, tenant_id, environment_id, endpoint_id, event_id,
      delivery_status, next_attempt_at, created_at, created_by, updated_at, updated_by)
    SELECT ${id}, ${tenantId}, ${environmentId}, ${endpoint.id}, event.id, 'pending',
      event.created_at, event.created_at, 'test', event.created_at, 'test'
    FROM system_events AS event
    WHERE event.tenant_id = ${tenantId} AND event.environment_id = ${environmentId}
    ORDER BY event.sequence LIMIT 1 RETURNING event_id AS event`);
  return {
    webhook_endpoint: endpoint.id,
    spare_webhook_endpoint: spare.id,
    webhook_delivery: id,
    webhook_event: event,
  };
}

/** A store with what is exported to it, and a run. */
async function makeExports({ database }: Stores, call: Call, make: Make) {
  const connectionOf = (name: string) =>
    make('/v1/connections', {
      name,
      provider_type: 's3',
      secrets: { access_key_id: 'example', secret_access_key: 'example' },
    });
  const connection = await connectionOf('Data lake');
  const spareConnection = await connectionOf('Old lake');
  const exportOf = (interval: string) =>
    make('/v1/tasks/scheduled', {
      connection_id: connection.id,
      entity_type: 'invoice',
      interval,
      enabled: true,
      job_config: { bucket: 'example-exports', region: 'eu-central-1' },
    });
  const scheduled = await exportOf('hourly');
  const spareScheduled = await exportOf('daily');
  const path = `/v1/tasks/scheduled/${scheduled.id}/run`;
  const run = await call('POST', path, { body: {} });
  const earlier = { start_time: '2025-01-01T00:00:00Z', end_time: '2025-02-01T00:00:00Z' };
  const done = await call('POST', path, { body: earlier });
  // As the job leaves it when the file is written.
  await ownerOf(database).query(sql.unsafe`
    UPDATE tasks SET task_status = 'COMPLETED', record_count = 12,
      file_url = 's3://example-exports/invoice/invoice-250101000000-250201000000.csv'
    WHERE id = ${done.body.workflow_id}`);
  return {
    connection: connection.id,
    spare_connection: spareConnection.id,
    scheduled_task: scheduled.id,
    spare_scheduled_task: spareScheduled.id,
    task: run.body.workflow_id as string,
    done_task: done.body.workflow_id as string,
  };
}

/** The connection of an environment that is filled a second time; null before. */
async function findStripe(call: Call): Promise<{ readonly id: string } | null> {
  const { items } = (await call('GET', '/v1/connections?limit=1000')).body as {
    readonly items: readonly { readonly id: string; readonly provider_type: string }[];
  };
  return items.find(({ provider_type: type }) => type === 'stripe') ?? null;
}

function makeStripe(make: Make, members: object): Promise<{ readonly id: string }> {
  return make('/v1/connections', {
    name: 'Stripe',
    provider_type: 'stripe',
    secrets: { secret_key: 'example', webhook_secret: 'example' },
    ...members,
  });
}

/** A gateway that was removed, with a signal that it has sent; and an alert that was raised. */
async function makeTold({ database, environment }: Stores, call: Call, make: Make): Promise<void> {
  const { tenantId, environmentId } = environment;
  const walletId = createId('wallet');
  const kept = await findStripe(call);
  const gateway = kept ?? (await makeStripe(make, {}));
  if (kept === null) await call('DELETE', `/v1/connections/${gateway.id}`);
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO gateway_signals (tenant_id, environment_id, connection_id, signal_id, signal_type,
      payment_id, received_at)
    VALUES (${tenantId}, ${environmentId}, ${gateway.id}, 'evt_1', 'payment_intent.succeeded',
      'pay_1', '2026-01-20T10:00:00Z')`);
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO subscription_signals (tenant_id, environment_id, signal_id, subscription_id, state,
      received_at)
    SELECT tenant_id, environment_id, ${createId('sys_event')}, id, 'active', '2026-01-20T10:00:00Z'
    FROM subscriptions WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId}
    ORDER BY id LIMIT 1`);
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO alert_states (tenant_id, environment_id, alert_type, entity_id, scope_id, alert_status,
      value)
    VALUES (${tenantId}, ${environmentId}, 'ongoing_balance', ${walletId}, '', 'in_alarm', 4)`);
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO alert_logs (id, tenant_id, environment_id, entity_type, entity_id, alert_type,
      alert_status, alert_info, created_at, created_by, updated_at, updated_by)
    SELECT ${createId('alert')}, ${tenantId}, ${environmentId}, 'wallet', ${walletId},
      'ongoing_balance', 'in_alarm', '{"state": "in_alarm", "credit_balance": "4"}',
      '2026-01-20T10:00:00Z', 'test', '2026-01-20T10:00:00Z', 'test'`);
}

/** A provider that has invoices of its own, and one of them. */
async function makeSynced(call: Call, make: Make, invoiceId: string): Promise<string> {
  await make('/v1/integrations/link', {
    entity_type: 'invoice',
    entity_id: invoiceId,
    provider_type: 'stripe',
    provider_entity_id: `in_${invoiceId}`,
  });
  const kept = await findStripe(call);
  return (kept ?? (await makeStripe(make, { sync_config: { direction: ['pull'] } }))).id;
}

/** A customer that is linked to an entity of a provider. */
async function makeLinked(make: Make): Promise<string> {
  const { id } = await make('/v1/customers', { external_id: createId('cust'), name: 'Linked' });
  await make('/v1/integrations/link', {
    entity_type: 'customer',
    entity_id: id,
    provider_type: 'erp',
    provider_entity_id: id,
  });
  return id;
}

/** Stores and endpoints, with what goes there, and what came from outside. */
export async function makeOutward(
  stores: Stores & { readonly invoiceId: string },
  call: Call,
  make: Make,
): Promise<OutwardIds> {
  const ids = {
    ...(await makeExports(stores, call, make)),
    ...(await makeWebhooks(stores, make)),
  };
  await makeTold(stores, call, make);
  const synced = {
    synced_invoice: stores.invoiceId,
    invoice_connection: await makeSynced(call, make, stores.invoiceId),
  };
  return { ...ids, ...synced, linked_customer: await makeLinked(make) };
}
