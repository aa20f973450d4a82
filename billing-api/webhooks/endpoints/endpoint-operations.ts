import { sql } from 'slonik';
import { z } from 'zod';
import { MINUTE_MS, type InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { integerColumn } from '../../../sql/columns.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import {
  WEBHOOK_DELIVERIES,
  type WebhookDeliveryRow,
} from '../../declarations/webhooks/webhook-delivery.resource.js';
import {
  WEBHOOK_ENDPOINTS,
  type ChangeWebhookEndpointBody,
  type CreateWebhookEndpointBody,
  type WebhookEndpointRow,
} from '../../declarations/webhooks/webhook-endpoint.resource.js';
import {
  changeRecord,
  removeRecord,
  updateRecord,
  type ChangeTarget,
} from '../../records/change-record.js';
import { isEqual, isOfEnvironment } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { holdPublished, lockRecord, readRecord } from '../../records/find-record.js';
import { givenOf } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { invalid, isRefusal, notFound, Refusal, Refused } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import type { SearchBodyRequest } from '../../records/search-request.js';
import { readOperation } from '../../records/operation.js';
import {
  mustRead,
  readUnit,
  writeUnit,
  type ReadDependencies,
  type Unit,
} from '../../records/unit.js';
import type { DeliveryNeeds } from '../delivery/deliver.js';
import { liveSecrets, makeSecret } from '../delivery/endpoint-secrets.js';
import { isDelivered, sendMessage } from '../delivery/send-message.js';

import { urlProblem } from './endpoint-url.js';

/** What operations on endpoints need. */
export type EndpointDependencies = DeliveryNeeds & { readonly arePrivateTargetsAllowed: boolean };

/** As the job that delivers to one endpoint is queued. */
export const DELIVER_TO_ENDPOINT = {
  name: 'deliver-webhooks',
  keyOf: ({ endpointId }: { readonly endpointId: string }): string => endpointId,
  onceWhileWaiting: true,
};

/** An endpoint with its secret, which nobody sees again. */
export type NewEndpoint = { readonly row: WebhookEndpointRow; readonly secret: string };

const sequenceRow = z.object({ sequence: integerColumn });

/** POST /webhooks/endpoints: it gets what happens from now on. */
export async function createEndpoint(
  dependencies: EndpointDependencies,
  occasion: Occasion,
  { url, ...members }: CreateWebhookEndpointBody,
): Promise<NewEndpoint | Refusal> {
  const { event_types: types, description } = members;
  const problem = await urlProblem(url, dependencies.arePrivateTargetsAllowed);
  if (problem !== null) return invalid({ url: problem });
  const { secretBox, createId } = dependencies;
  const owner = { environment: occasion.environment, id: createId(WEBHOOK_ENDPOINTS.idPrefix) };
  const secret = await makeSecret(secretBox, owner);
  if (isRefusal(secret)) return secret;
  const row = await writeUnit(dependencies, occasion, async (unit) => {
    const { sequence } = await unit.tx.one(sql.type(sequenceRow)`
      SELECT coalesce(max(sequence), 0) AS sequence FROM system_events WHERE ${isOfEnvironment}`);
    return createRecord(unit, WEBHOOK_ENDPOINTS, {
      id: owner.id,
      url,
      event_types: types ?? null,
      description: description ?? null,
      metadata: {},
      enabled: true,
      disabled_reason: null,
      secret: secret.sealed,
      previous_secret: null,
      previous_until: null,
      taken_until: sequence,
    });
  });
  return isRefusal(row) ? row : { row, secret: secret.text };
}

/** GET /webhooks/endpoints. */
export const listEndpoints = readOperation((unit, request: SearchBodyRequest) =>
  searchRecords(unit, WEBHOOK_ENDPOINTS, { request, conditions: [] }),
);

/** GET /webhooks/endpoints/{id}. */
export const readEndpoint = readOperation((unit, id: string) =>
  readRecord(unit, WEBHOOK_ENDPOINTS, id),
);

/** PUT /webhooks/endpoints/{id}. */
export async function changeEndpoint(
  dependencies: EndpointDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeWebhookEndpointBody },
): Promise<WebhookEndpointRow | Refusal> {
  const { url, enabled } = body;
  const { arePrivateTargetsAllowed } = dependencies;
  const problem = url === undefined ? null : await urlProblem(url, arePrivateTargetsAllowed);
  if (problem !== null) return invalid({ url: problem });
  const patch = givenOf({
    url,
    enabled,
    event_types: body.event_types,
    description: body.description,
    disabled_reason: enabled === true ? null : undefined,
  });
  return writeUnit(dependencies, occasion, (unit) =>
    changeRecord(unit, WEBHOOK_ENDPOINTS, { target, change: () => patch }),
  );
}

/** DELETE /webhooks/endpoints/{id}. */
export function removeEndpoint(
  dependencies: EndpointDependencies,
  occasion: Occasion,
  id: string,
): Promise<WebhookEndpointRow | Refusal> {
  return writeUnit(dependencies, occasion, (unit) =>
    removeRecord(unit, WEBHOOK_ENDPOINTS, { id, guards: [] }),
  );
}

const ROTATION_MS = 24 * 60 * MINUTE_MS;

/** POST /webhooks/endpoints/{id}/rotate_secret: for a day both secrets sign. */
export async function rotateSecret(
  dependencies: EndpointDependencies,
  occasion: Occasion,
  id: string,
): Promise<string | Refusal> {
  const { environment } = occasion;
  const secret = await makeSecret(dependencies.secretBox, { environment, id });
  if (isRefusal(secret)) return secret;
  const changed = await writeUnit(dependencies, occasion, async (unit) => {
    const row = await lockRecord(unit, WEBHOOK_ENDPOINTS, id);
    if (row?.status !== 'published') throw new Refused(notFound(WEBHOOK_ENDPOINTS.name, id));
    return updateRecord(unit, WEBHOOK_ENDPOINTS, {
      row,
      patch: {
        secret: secret.sealed,
        previous_secret: row.secret,
        previous_until: dependencies.clock.now() + ROTATION_MS,
      },
    });
  });
  return isRefusal(changed) ? changed : secret.text;
}

const payloadRow = z.object({ body: z.string() });

/** Which event a test sends, and the one of which there is a sample. */
type EventOfTest = {
  readonly eventType: string;
  readonly sample: { readonly event_type: string };
};

/** The body of a test: the sample, or what the last event of another name has told. */
async function testBody(
  dependencies: ReadDependencies,
  occasion: Occasion,
  { eventType, sample }: EventOfTest,
): Promise<string | Refusal> {
  if (eventType === sample.event_type) return JSON.stringify(sample);
  const row = await mustRead(dependencies, occasion, ({ tx }) =>
    tx.maybeOne(sql.type(payloadRow)`
      SELECT payload::text AS body FROM system_events
      WHERE event_name = ${eventType} AND ${isOfEnvironment}
      ORDER BY sequence DESC LIMIT 1`),
  );
  if (row !== null) return row.body;
  const problem = `no ${eventType} has happened yet; give ${sample.event_type}`;
  return invalid({ event_type: problem });
}

/** POST /webhooks/endpoints/{id}/test: sends a sample now, and answers what came of it. */
export async function testEndpoint(
  dependencies: EndpointDependencies,
  occasion: Occasion,
  { id, ...event }: EventOfTest & { readonly id: string },
): Promise<WebhookDeliveryRow | Refusal> {
  const endpoint = await readEndpoint(dependencies, occasion, id);
  if (isRefusal(endpoint)) return endpoint;
  if (endpoint.status !== 'published') return notFound(WEBHOOK_ENDPOINTS.name, id);
  const body = await testBody(dependencies, occasion, event);
  if (isRefusal(body)) return body;
  const { createId, secretBox, clock } = dependencies;
  const box = assertPresent(secretBox, 'the key of secrets, MINUTEBOOK_SECRETS_KEY');
  const secrets = await liveSecrets(box, endpoint, clock.now());
  const message = { id: createId('whtest'), sequence: null, body };
  const attempt = await sendMessage(dependencies, { url: endpoint.url, secrets }, message);
  return writeUnit(dependencies, occasion, (unit) =>
    createRecord(unit, WEBHOOK_DELIVERIES, {
      endpoint_id: id,
      event_id: null,
      attempts: [attempt],
      next_attempt_at: null,
      delivery_status: isDelivered(attempt) ? 'delivered' : 'failed',
      metadata: {},
    }),
  );
}

/** GET /webhooks/deliveries. */
export function listDeliveries(
  dependencies: ReadDependencies,
  occasion: Occasion,
  wanted: {
    readonly request: SearchBodyRequest;
    readonly endpointId: string | undefined;
    readonly eventId: string | undefined;
    readonly status: string | undefined;
  },
): Promise<Page<WebhookDeliveryRow> | Refusal> {
  const conditions = [
    ...isEqual('endpoint_id', wanted.endpointId),
    ...isEqual('event_id', wanted.eventId),
    ...isEqual('delivery_status', wanted.status),
  ] as const;
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, WEBHOOK_DELIVERIES, { request: wanted.request, conditions }),
  );
}

/** GET /webhooks/deliveries/{id}. */
export const readDelivery = readOperation((unit, id: string) =>
  readRecord(unit, WEBHOOK_DELIVERIES, id),
);

/** Has a delivery sent once more, from now on as if it were new; a locked one. */
async function sendAgain(
  unit: Unit,
  row: WebhookDeliveryRow,
  machineNow: InstantMs,
): Promise<WebhookDeliveryRow> {
  const endpoint = await holdPublished(unit, WEBHOOK_ENDPOINTS, row.endpoint_id);
  if (!endpoint.enabled) {
    const problem = `endpoint ${endpoint.id} is disabled; enable it before it is sent to`;
    throw new Refused(new Refusal('invalid_operation', problem));
  }
  const after = await updateRecord(unit, WEBHOOK_DELIVERIES, {
    row,
    patch: { delivery_status: 'pending', next_attempt_at: machineNow },
  });
  await enqueue(unit, DELIVER_TO_ENDPOINT, { input: { endpointId: row.endpoint_id } });
  return after;
}

/** POST /webhooks/deliveries/{id}/resend. */
export function resendDelivery(
  dependencies: EndpointDependencies,
  occasion: Occasion,
  id: string,
): Promise<WebhookDeliveryRow | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await lockRecord(unit, WEBHOOK_DELIVERIES, id);
    if (row === null) throw new Refused(notFound(WEBHOOK_DELIVERIES.name, id));
    if (row.event_id !== null) return sendAgain(unit, row, dependencies.clock.now());
    throw new Refused(
      new Refusal('invalid_operation', 'a test has no event; test the endpoint again'),
    );
  });
}

/** POST /webhooks/retry: sends an event once more to every enabled endpoint that was to get it. */
export function retryEvent(
  dependencies: EndpointDependencies,
  occasion: Occasion,
  eventId: string,
): Promise<number | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const isKnown = await unit.tx.exists(sql.type(z.unknown())`
      SELECT FROM system_events WHERE id = ${eventId} AND ${isOfEnvironment}`);
    if (!isKnown) throw new Refused(notFound('system event', eventId));
    const rows = await unit.tx.any(sql.type(WEBHOOK_DELIVERIES.row)`
      SELECT * FROM webhook_deliveries
      WHERE event_id = ${eventId} AND ${isOfEnvironment}
        AND endpoint_id IN (SELECT id FROM webhook_endpoints
          WHERE enabled AND status = 'published' AND ${isOfEnvironment})
      ORDER BY id FOR NO KEY UPDATE`);
    for (const row of rows) {
      await sendAgain(unit, row, dependencies.clock.now());
    }
    return rows.length;
  });
}
