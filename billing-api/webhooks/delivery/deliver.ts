import PQueue from 'p-queue';
import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, MINUTE_MS, type InstantMs } from '../../../contract/instant.js';
import type { OutboundAgents } from '../../../runtime/guarded-agents.js';
import type { SecretBox } from '../../../runtime/secret-box.js';
import { instantColumn, integerColumn, noRows } from '../../../sql/columns.js';
import {
  WEBHOOK_DELIVERIES,
  type DeliveryAttempt,
} from '../../declarations/webhooks/webhook-delivery.resource.js';
import {
  WEBHOOK_ENDPOINTS,
  type WebhookEndpointRow,
} from '../../declarations/webhooks/webhook-endpoint.resource.js';
import { nextAttempt } from '../../domain/webhooks/retry-schedule.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import { findRecord, lockRecord } from '../../records/find-record.js';
import { authorOf, type JobActor, type Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit, writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { liveSecrets } from './endpoint-secrets.js';
import { isDelivered, sendMessage, type WebhookTarget } from './send-message.js';

/** What delivering needs. */
export type DeliveryNeeds = WriteDependencies & {
  /** Null where no key is configured: then there are no endpoints either. */
  readonly secretBox: SecretBox | null;
  readonly outbound: OutboundAgents;
};

type At = Occasion<JobActor>;

/** Events that are made deliveries of in one transaction. */
const TAKEN_AT_ONCE = 500;
/** Messages of one endpoint that are on their way at once. */
const SENT_AT_ONCE = 10;
/** Older events are skipped (docs/domain.md 32.3). */
const STALE_MS = 48 * 60 * MINUTE_MS;
/** The clock of an environment that differs by more is a test clock: nothing is too old then. */
const CLOCK_DIFFERENCE_MS = MINUTE_MS;

const eventRow = z.object({
  id: z.string(),
  sequence: integerColumn,
  event_name: z.string(),
  created_at: instantColumn,
});

async function orThrow<T>(result: Promise<T | Refusal>): Promise<T> {
  const value = await result;
  if (isRefusal(value)) throw new Error(value.message);
  return value;
}

/** Makes deliveries of the next events; answers how many events it has taken. */
async function takeEvents(unit: Unit, endpointId: string, machineNow: InstantMs): Promise<number> {
  const endpoint = await lockRecord(unit, WEBHOOK_ENDPOINTS, endpointId);
  if (endpoint?.status !== 'published' || !endpoint.enabled) return 0;
  const { tx, now } = unit;
  const events = await tx.any(sql.type(eventRow)`
    SELECT id, sequence, event_name, created_at FROM system_events
    WHERE sequence > ${endpoint.taken_until} AND ${isOfEnvironment}
    ORDER BY sequence LIMIT ${TAKEN_AT_ONCE}`);
  const last = events.at(-1);
  if (last === undefined) return 0;
  const { event_types: types } = endpoint;
  const isClockReal = Math.abs(machineNow - now) <= CLOCK_DIFFERENCE_MS;
  const wanted = events.filter(({ event_name: name }) => types?.includes(name) ?? true);
  const rows = wanted.map(({ id, created_at: at }) => {
    const isStale = isClockReal && at < now - STALE_MS;
    return { id: unit.newId(WEBHOOK_DELIVERIES.idPrefix), event_id: id, is_stale: isStale };
  });
  const { tenantId, environmentId } = unit.environment;
  const at = sql.fragment`${formatInstant(now)}::timestamptz`;
  await tx.query(sql.type(noRows)`
    INSERT INTO webhook_deliveries (id, tenant_id, environment_id, endpoint_id, event_id,
      delivery_status, next_attempt_at, created_at, created_by, updated_at, updated_by)
    SELECT given.id, ${tenantId}, ${environmentId}, ${endpointId}, given.event_id,
      CASE WHEN given.is_stale THEN 'skipped' ELSE 'pending' END,
      CASE WHEN given.is_stale THEN NULL ELSE ${formatInstant(machineNow)}::timestamptz END,
      ${at}, ${authorOf(unit.actor)}, ${at}, ${authorOf(unit.actor)}
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS given (id text, event_id text, is_stale boolean)
    ON CONFLICT DO NOTHING`);
  await tx.query(sql.type(noRows)`
    UPDATE system_events SET published_at = ${at}
    WHERE sequence > ${endpoint.taken_until} AND sequence <= ${last.sequence}
      AND published_at IS NULL AND ${isOfEnvironment}`);
  await tx.query(sql.type(noRows)`
    UPDATE webhook_endpoints SET taken_until = ${last.sequence}
    WHERE id = ${endpointId} AND ${isOfEnvironment}`);
  return events.length;
}

const dueRow = z.object({
  id: z.string(),
  event_id: z.string(),
  sequence: integerColumn,
  body: z.string(),
  attempt_count: z.number().int(),
});
type Due = z.output<typeof dueRow>;

/** Deliveries whose next attempt is due, in the order of their events. */
function findDue(needs: DeliveryNeeds, occasion: At, endpointId: string): Promise<readonly Due[]> {
  return readUnit(needs, occasion, ({ tx }) =>
    tx.any(sql.type(dueRow)`
      SELECT delivery.id, delivery.event_id, event.sequence, event.payload::text AS body,
        jsonb_array_length(delivery.attempts) AS attempt_count
      FROM webhook_deliveries AS delivery
      JOIN system_events AS event ON event.id = delivery.event_id AND ${rowIsOfEnvironment('event')}
      WHERE delivery.endpoint_id = ${endpointId} AND delivery.delivery_status = 'pending'
        AND delivery.next_attempt_at <= ${formatInstant(needs.clock.now())}::timestamptz
        AND ${rowIsOfEnvironment('delivery')}
      ORDER BY event.sequence LIMIT ${TAKEN_AT_ONCE}`),
  );
}

/** Gone means gone: an endpoint whose receiver answers 410 is not asked again. */
const GONE = 410;

/** What becomes of a delivery after an attempt. */
type Outcome = {
  readonly status: 'delivered' | 'failed' | 'pending';
  readonly next: InstantMs | null;
  readonly isGone: boolean;
};

function outcomeOf(due: Due, attempt: DeliveryAttempt, machineNow: InstantMs): Outcome {
  const isGone = attempt.status_code === GONE;
  if (isDelivered(attempt)) return { status: 'delivered', next: null, isGone };
  const next = isGone ? null : nextAttempt(due.attempt_count + 1, machineNow, Math.random());
  return { status: next === null ? 'failed' : 'pending', next, isGone };
}

type Noted = Outcome & { readonly attempt: DeliveryAttempt };

async function note(unit: Unit, due: Due, noted: Noted): Promise<null> {
  const { attempt, status, next, isGone } = noted;
  const nextAt = next === null ? null : formatInstant(next);
  const row = await lockRecord(unit, WEBHOOK_DELIVERIES, due.id);
  if (row === null) return null;
  const at = sql.fragment`${formatInstant(unit.now)}::timestamptz`;
  await unit.tx.query(sql.type(noRows)`
    UPDATE webhook_deliveries SET delivery_status = ${status}, updated_at = ${at},
      next_attempt_at = ${nextAt}::timestamptz,
      attempts = attempts || ${JSON.stringify([attempt])}::jsonb
    WHERE id = ${due.id} AND ${isOfEnvironment}`);
  if (status !== 'delivered') {
    const reason = attempt.error ?? `the receiver answered ${attempt.status_code ?? 'nothing'}`;
    await unit.tx.query(sql.type(noRows)`
      UPDATE system_events SET failure_count = failure_count + 1, failure_reason = ${reason}
      WHERE id = ${due.event_id} AND ${isOfEnvironment}`);
  }
  if (isGone) {
    await unit.tx.query(sql.type(noRows)`
      UPDATE webhook_endpoints SET enabled = false, version = version + 1, updated_at = ${at},
        disabled_reason = 'the receiver answered 410: it is gone'
      WHERE id = ${row.endpoint_id} AND ${isOfEnvironment}`);
  }
  return null;
}

/** The endpoint as a target; null when nothing is to be sent to it. */
async function targetOf(
  needs: DeliveryNeeds,
  row: WebhookEndpointRow | null,
): Promise<WebhookTarget | null> {
  if (needs.secretBox === null || row?.status !== 'published' || !row.enabled) return null;
  return { url: row.url, secrets: await liveSecrets(needs.secretBox, row, needs.clock.now()) };
}

/** How long one run goes on; then other endpoints have their turn. */
const RUN_MS = 30_000;

/**
 * Delivers what is due to one endpoint, in the order of the events as far as that goes: some are
 * on their way at once, and what failed comes later. It may be killed at any point; what was sent
 * and not noted is sent again, with the same id.
 * @returns whether there is more to do.
 */
export async function deliverTo(
  needs: DeliveryNeeds,
  occasion: At,
  { endpointId, signal }: { readonly endpointId: string; readonly signal: AbortSignal },
): Promise<boolean> {
  const { clock } = needs;
  const until: InstantMs = clock.now() + RUN_MS;
  for (;;) {
    signal.throwIfAborted();
    const endpoint = await readUnit(needs, occasion, (unit) =>
      findRecord(unit, WEBHOOK_ENDPOINTS, endpointId),
    );
    const target = await targetOf(needs, endpoint);
    if (target === null) return false;
    const taken = await orThrow(
      writeUnit(needs, occasion, (unit) => takeEvents(unit, endpointId, clock.now())),
    );
    const due = await findDue(needs, occasion, endpointId);
    if (due.length === 0 && taken === 0) return false;
    const queue = new PQueue({ concurrency: SENT_AT_ONCE });
    await queue.addAll(
      due.map((one) => async () => {
        if (signal.aborted || clock.now() > until) return;
        const message = { id: one.event_id, sequence: one.sequence, body: one.body };
        const attempt = await sendMessage(needs, target, message);
        const noted = { attempt, ...outcomeOf(one, attempt, clock.now()) };
        await orThrow(writeUnit(needs, occasion, (unit) => note(unit, one, noted)));
      }),
    );
    if (clock.now() > until) return true;
  }
}
