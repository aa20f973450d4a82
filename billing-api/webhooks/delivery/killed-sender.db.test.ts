import { setTimeout } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { describe, expect, vi } from 'vitest';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import { createSeededRandom } from '../../../load-tests/harness/seeded-random.js';
import { HOUR_MS } from '../../../contract/instant.js';
import { test } from '../../testing/billing-test.js';
import type { Answer } from '../../testing/money-test.js';
import { startReceiver, type Received, type Receiver } from '../../testing/webhook-receiver.js';
import { workUntilKilled } from '../../testing/work-until-killed.js';

const PATH = '/v1/webhooks/endpoints';
/** Instants of the day at which things happen and the sender is killed. */
const HOURS = [0, 4, 8, 12, 16, 20];
const EVENTS_EACH = 12;
/** Before it, the secret is another one. */
const ROTATION_HOUR = 12;
/** Whatever failed during the day is due again by then: the longest pause so far is 14 hours. */
const AFTERWARDS_HOUR = 44;

/** What was received, at which hour of the turned clock. */
type Dated = Received & { readonly turnedMs: number; readonly at: number };

/** A receiver that notes each message together with the time at which it was sent. */
async function startDatedReceiver(turned: { ms: number }) {
  const receiver = await startReceiver();
  const [dated, refused]: [Dated[], Dated[]] = [[], []];
  const behaving = { isUp: true };
  receiver.behave = (message) => {
    const one = { ...message, turnedMs: turned.ms, at: Date.now() + turned.ms };
    (behaving.isUp ? dated : refused).push(one);
    if (!behaving.isUp) return { status: 503 };
    // A while, so that a kill finds messages that were taken and not noted.
    return { status: 200, waitMs: 20 };
  };
  return { receiver, dated, refused, behaving };
}

/** As the public library checks a message at the instant at which it came. */
function verifyAt(secret: string, { body, headers, at }: Dated): void {
  vi.useFakeTimers({ toFake: ['Date'], now: at });
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}

const sequencesOf = (received: readonly Received[]) =>
  new Set(received.map(({ headers }) => Number(headers['webhook-sequence'])));

/** Whatever came again had the same bytes. */
function expectSameBytes(dated: readonly Dated[], count: number): void {
  const bodies = new Map(dated.map(({ headers, body }) => [headers['webhook-id'], body]));
  expect(bodies.size).toBe(count);
  for (const { headers, body } of dated) expect(bodies.get(headers['webhook-id'])).toBe(body);
}

/** The secret from before signs too until the day is over, and the new one from its hour on. */
function expectRotation(dated: readonly Dated[], before: string, after: string): void {
  for (const message of dated) {
    const hour = message.turnedMs / HOUR_MS;
    if (hour < AFTERWARDS_HOUR) verifyAt(before, message);
    if (hour >= ROTATION_HOUR) verifyAt(after, message);
    else expect(() => verifyAt(after, message)).toThrow();
  }
}

/** Each refused attempt was the same message, with a time of its own. */
function expectSameAgain(refused: readonly Dated[]): void {
  const firstId = refused[0]?.headers['webhook-id'];
  const tries = refused.filter(({ headers }) => headers['webhook-id'] === firstId);
  expect(tries.length).toBeGreaterThanOrEqual(4);
  expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
  const times = new Set(tries.map(({ headers }) => headers['webhook-timestamp']));
  expect(times.size).toBeGreaterThanOrEqual(4);
}

describe('a day of webhooks whose sender is killed again and again', () => {
  test(
    'reaches receivers whole, also one that was down all day, signed across a rotation',
    { timeout: 300_000 },
    async ({ api, database, clickhouse }) => {
      const seed = drawSeed();
      const random = createSeededRandom(seed);
      const turned = { ms: 0 };
      const up = await startDatedReceiver(turned);
      const down = await startDatedReceiver(turned);
      down.behaving.isUp = false;
      const endpointOf = ({ url }: Receiver): Promise<Answer> => api.make(PATH, { url });
      const [first, second] = [await endpointOf(up.receiver), await endpointOf(down.receiver)];
      const { body: before } = await api.call('GET', '/v1/webhooks/events?limit=1000');
      const engines = {
        databaseUrl: database.url,
        clickHouseUrl: clickhouse.url,
        environment: api.environment,
        jobs: ['queue-webhooks', 'deliver-webhooks'],
      };
      let rotated = '';
      for (const hour of HOURS) {
        turned.ms = hour * HOUR_MS;
        if (hour === ROTATION_HOUR) {
          rotated = (await api.call('POST', `${PATH}/${first.id}/rotate_secret`)).body.secret;
        }
        for (let made = 0; made < EVENTS_EACH; made += 1) {
          await api.make('/v1/customers', { external_id: `${hour} ${made}` });
        }
        const had = [up.dated.length, down.refused.length] as const;
        await workUntilKilled({ ...engines, turnedMs: turned.ms }, async () => {
          await vi.waitFor(() => {
            expect(up.dated.length).toBeGreaterThan(had[0]);
            expect(down.refused.length).toBeGreaterThan(had[1]);
          }, 40_000);
          await setTimeout(random.next() * 150);
        });
      }
      turned.ms = AFTERWARDS_HOUR * HOUR_MS;
      down.behaving.isUp = true;
      const { body: after } = await api.call('GET', '/v1/webhooks/events?limit=1000');
      const wanted = new Set(
        after.items
          .map(({ sequence }: Answer) => sequence)
          .filter((sequence: number) => sequence > before.next_after),
      );
      expect(wanted.size).toBe(HOURS.length * EVENTS_EACH);
      // The log of deliveries agrees with what was received.
      const noted = async () => {
        const pending = await api.call('GET', '/v1/webhooks/deliveries?status=pending');
        expect([seed, pending.body.items]).toEqual([seed, []]);
      };
      await workUntilKilled({ ...engines, turnedMs: turned.ms }, () =>
        vi.waitFor(
          async () => {
            expect([seed, sequencesOf(up.dated)]).toEqual([seed, wanted]);
            expect([seed, sequencesOf(down.dated)]).toEqual([seed, wanted]);
            await noted();
          },
          { timeout: 60_000, interval: 200 },
        ),
      );
      for (const { dated } of [up, down]) expectSameBytes(dated, wanted.size);
      expectRotation(up.dated, first.secret, rotated);
      for (const message of [...down.dated, ...down.refused]) verifyAt(second.secret, message);
      expectSameAgain(down.refused);
      const { body: failed } = await api.call('GET', '/v1/webhooks/deliveries?status=failed');
      expect(failed.items).toEqual([]);
      await Promise.all([up.receiver.close(), down.receiver.close()]);
    },
  );
});
