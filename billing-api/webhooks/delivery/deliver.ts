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
import { nextAttempt } from '../../domain/outward/retry-schedule.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { authorOf, type JobActor, type Occasion } from '../../records/occasion.js';
import { mustWrite, type Unit, type WriteDependencies } from '../../records/unit.js';
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

/** Makes deliveries of the next events; answers how many events it has taken. */
async function takeEvents(
  unit: Unit,
  endpoint: WebhookEndpointRow,
  machineNow: InstantMs,
): Promise<number> {
  const { tx, now } = unit;
  const { id: endpointId } = endpoint;
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
function findDue({ tx }: Unit, endpointId: string, machineNow: InstantMs): Promise<readonly Due[]> {
  return tx.any(sql.type(dueRow)`
    SELECT delivery.id, delivery.event_id, event.sequence, event.payload::text AS body,
      jsonb_array_length(delivery.attempts) AS attempt_count
    FROM webhook_deliveries AS delivery
    JOIN system_events AS event ON event.id = delivery.event_id AND ${rowIsOfEnvironment('event')}
    WHERE delivery.endpoint_id = ${endpointId} AND delivery.delivery_status = 'pending'
      AND delivery.next_attempt_at <= ${formatInstant(machineNow)}::timestamptz
      AND ${rowIsOfEnvironment('delivery')}
    ORDER BY event.sequence LIMIT ${TAKEN_AT_ONCE}`);
}

/** What is sent next, and where to. */
type Round = {
  readonly endpoint: WebhookEndpointRow;
  readonly taken: number;
  readonly due: readonly Due[];
};

/** Takes the next events and finds what is due, at once; null when nothing may be sent. */
async function beginRound(
  unit: Unit,
  endpointId: string,
  machineNow: InstantMs,
): Promise<Round | null> {
  const endpoint = await lockRecord(unit, WEBHOOK_ENDPOINTS, endpointId);
  if (endpoint?.status !== 'published' || !endpoint.enabled) return null;
  const taken = await takeEvents(unit, endpoint, machineNow);
  return { endpoint, taken, due: await findDue(unit, endpointId, machineNow) };
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

type Noted = Outcome & { readonly due: Due; readonly attempt: DeliveryAttempt };

/** Notes attempts to one endpoint, each of another event. */
async function noteAll(unit: Unit, noted: readonly Noted[], endpointId: string): Promise<null> {
  const at = sql.fragment`${formatInstant(unit.now)}::timestamptz`;
  const rows = noted.map(({ due, attempt, status, next }) => ({
    id: due.id,
    status,
    attempts: [attempt],
    next_at: next === null ? null : formatInstant(next),
  }));
  await unit.tx.query(sql.type(noRows)`
    UPDATE webhook_deliveries AS delivery SET delivery_status = given.status, updated_at = ${at},
      next_attempt_at = given.next_at, attempts = delivery.attempts || given.attempts
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS given (id text, status text, next_at timestamptz, attempts jsonb)
    WHERE delivery.id = given.id AND ${rowIsOfEnvironment('delivery')}`);
  const failed = noted.filter(({ status }) => status !== 'delivered');
  if (failed.length === 0) return null;
  const reasons = failed.map(({ due, attempt: { error, status_code: code } }) => ({
    id: due.event_id,
    reason: error ?? `the receiver answered ${code ?? 'nothing'}`,
  }));
  await unit.tx.query(sql.type(noRows)`
    UPDATE system_events AS event SET failure_count = event.failure_count + 1,
      failure_reason = given.reason
    FROM jsonb_to_recordset(${JSON.stringify(reasons)}::jsonb) AS given (id text, reason text)
    WHERE event.id = given.id AND ${rowIsOfEnvironment('event')}`);
  if (!failed.some(({ isGone }) => isGone)) return null;
  await unit.tx.query(sql.type(noRows)`
    UPDATE webhook_endpoints SET enabled = false, version = version + 1, updated_at = ${at},
      disabled_reason = 'the receiver answered 410: it is gone'
    WHERE id = ${endpointId} AND ${isOfEnvironment}`);
  return null;
}

/**
 * Notes attempts at once; those that end while others are being noted are noted together, so that
 * many messages need few transactions.
 */
function createNotes(needs: DeliveryNeeds, occasion: At, endpointId: string) {
  let waiting: Noted[] = [];
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    const taken = waiting;
    [waiting, next] = [[], null];
    await mustWrite(needs, occasion, (unit) => noteAll(unit, taken, endpointId));
  };
  return (noted: Noted): Promise<void> => {
    waiting.push(noted);
    if (next === null) {
      // Whoever waits for the one before is told of its failure.
      next = last.catch(() => undefined).then(write);
      last = next;
    }
    return next;
  };
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

/** Whether so little was due that the next run is soon enough: another look costs a transaction. */
const isLittle = ({ due, taken }: Round): boolean =>
  due.length < SENT_AT_ONCE && taken < SENT_AT_ONCE;

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
  const note = createNotes(needs, occasion, endpointId);
  for (;;) {
    signal.throwIfAborted();
    const round = await mustWrite(needs, occasion, (unit) =>
      beginRound(unit, endpointId, clock.now()),
    );
    const target = await targetOf(needs, round?.endpoint ?? null);
    if (round === null || target === null) return false;
    const { due } = round;
    const queue = new PQueue({ concurrency: SENT_AT_ONCE });
    await queue.addAll(
      due.map((one) => async () => {
        if (signal.aborted || clock.now() > until) return;
        const message = { id: one.event_id, sequence: one.sequence, body: one.body };
        const attempt = await sendMessage(needs, target, message);
        await note({ due: one, attempt, ...outcomeOf(one, attempt, clock.now()) });
      }),
    );
    if (clock.now() > until) return true;
    if (isLittle(round)) return false;
  }
}
