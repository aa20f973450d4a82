import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { describe, expect, vi } from 'vitest';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import { createSeededRandom } from '../../../load-tests/harness/seeded-random.js';
import { HOUR_MS } from '../../../contract/instant.js';
import { builtModule } from '../../../runtime/project.js';
import { test } from '../../testing/billing-test.js';
import type { Answer } from '../../testing/money-test.js';
import { startReceiver, type Received, type Receiver } from '../../testing/webhook-receiver.js';

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

/** A receiver that keeps when it was sent what. */
async function startDatedReceiver(turned: { ms: number }) {
  const receiver = await startReceiver();
  const dated: Dated[] = [];
  const behaving = { isUp: true };
  receiver.behave = (message) => {
    if (!behaving.isUp) return { status: 503 };
    dated.push({ ...message, turnedMs: turned.ms, at: Date.now() + turned.ms });
    // A while, so that a kill finds messages that were taken and not noted.
    return { status: 200, waitMs: 20 };
  };
  return { receiver, dated, behaving };
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

/** Sends by a clock that is turned, and is killed when the text says so. */
async function sendUntil(engines: object, turnedMs: number, isOver: () => Promise<unknown>) {
  const child = fork(builtModule('billing-api/testing/deliver-as-worker'), [
    JSON.stringify({ ...engines, turnedMs }),
  ]);
  const exited = once(child, 'exit');
  await once(child, 'message');
  await isOver();
  child.kill('SIGKILL');
  await exited;
}

const sequencesOf = (received: readonly Received[]) =>
  new Set(received.map(({ headers }) => Number(headers['webhook-sequence'])));

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
        ...{ databaseUrl: database.url, clickHouseUrl: clickhouse.url },
        environment: api.environment,
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
        const had = up.dated.length;
        await sendUntil(engines, turned.ms, async () => {
          await vi.waitFor(() => expect(up.dated.length).toBeGreaterThan(had), 40_000);
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
      await sendUntil(engines, turned.ms, () =>
        vi.waitFor(
          () => {
            expect([seed, sequencesOf(up.dated)]).toEqual([seed, wanted]);
            expect([seed, sequencesOf(down.dated)]).toEqual([seed, wanted]);
          },
          { timeout: 60_000, interval: 200 },
        ),
      );
      for (const { dated } of [up, down]) {
        const bodies = new Map(dated.map(({ headers, body }) => [headers['webhook-id'], body]));
        expect(bodies.size).toBe(wanted.size);
        for (const { headers, body } of dated) expect(bodies.get(headers['webhook-id'])).toBe(body);
      }
      for (const message of up.dated) {
        const hour = message.turnedMs / HOUR_MS;
        // The secret from before signs too until the day is over.
        if (hour < AFTERWARDS_HOUR) verifyAt(first.secret, message);
        if (hour >= ROTATION_HOUR) verifyAt(rotated, message);
        else expect(() => verifyAt(rotated, message)).toThrow();
      }
      for (const message of down.dated) verifyAt(second.secret, message);
      expect(down.receiver.received.length).toBeGreaterThan(wanted.size);
      const { body: failed } = await api.call('GET', '/v1/webhooks/deliveries?status=failed');
      expect(failed.items).toEqual([]);
      await Promise.all([up.receiver.close(), down.receiver.close()]);
    },
  );
});
