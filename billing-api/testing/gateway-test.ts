import { expect } from 'vitest';
import { HOUR_MS } from '../../contract/instant.js';
import { createId } from '../../runtime/ids.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import type { JobNeeds } from '../jobs/job-needs.js';
import { LOOK_FOR_SIGNALS } from '../jobs/look-for-signals.js';
import { TAKE_BY_GATEWAY } from '../jobs/take-payments.js';
import { mustWrite } from '../records/unit.js';
import { takeByGateway } from '../money/gateway-payments/take-by-gateway.js';
import { billingNeeds, billingRunner } from './bill-environment.js';
import type { Answer as HttpAnswer } from './billing-harness.js';
import { test as moneyTest, type Answer } from './money-test.js';
import {
  startStripeSimulator,
  type SignedBody,
  type SimulatedIntent,
  type StripeSimulator,
} from './stripe-simulator.js';

/** The key of the account at the simulator. */
export const KEY = 'sk_test_an_example_not_a_key';

/** A gateway that is connected, and what tests do with it. */
export type Gateway = {
  readonly stripe: StripeSimulator;
  readonly connection: Answer;
  /** Pays an invoice by card, and takes the payment. */
  readonly pay: (invoice: Answer, differing?: object) => Promise<void>;
  /** Takes the payments that are waiting. */
  readonly take: () => Promise<void>;
  /** Looks for what was lost, so many hours from now. */
  readonly look: (hours: number) => Promise<void>;
  /** Does what is due until so many hours from now. */
  readonly wait: (hours: number) => Promise<void>;
  /** Tries one payment, and throws what the job would try again for. */
  readonly tryOnce: (payment: Answer) => Promise<void>;
  readonly signal: (signed: SignedBody) => Promise<HttpAnswer>;
  /** The only charge there. */
  readonly charge: () => SimulatedIntent;
  /** Carries out the only charge there, without a word to us. */
  readonly carryOut: () => SimulatedIntent;
  readonly paymentsOf: (invoice: Answer) => Promise<Answer[]>;
};

/** A payment by a card that is taken at once. */
export const CARD = {
  payment_method_type: 'CARD',
  payment_method_id: 'pm_card_visa',
  process_payment: true,
};

/** The body of a payment of an invoice by card. */
export const cardOf = ({ id, amount_due: amount }: Answer, differing: object = {}) => ({
  destination_type: 'INVOICE',
  destination_id: id,
  amount,
  currency: 'usd',
  ...CARD,
  ...differing,
});

/** `test` of money with a gateway that is connected. */
export const test = moneyTest.extend<{ gateway: Gateway }>({
  gateway: async ({ api, database, clickhouse, money }, use) => {
    expect(money).toBeDefined();
    const stripe = await startStripeSimulator();
    const { environment } = api;
    const engines = { database: database.database, clickHouse: clickhouse.client, environment };
    const connection = await api.make('/v1/connections', {
      name: 'Cards',
      provider_type: 'stripe',
      endpoint_url: stripe.url,
      secrets: { secret_key: KEY, webhook_secret: stripe.webhookSecret },
    });
    const needs: JobNeeds = billingNeeds(engines);
    const runner = billingRunner(engines, [TAKE_BY_GATEWAY, LOOK_FOR_SIGNALS]);
    const actor = { kind: 'job', job: 'take-payment', runId: 'run' } as const;
    const take = async () => {
      await runner.runDue(Date.now());
    };
    const wait = async (hours: number) => {
      await runner.runDue(Date.now() + hours * HOUR_MS);
    };
    const charge = () => {
      expect(stripe.intents.size).toBe(1);
      return [...stripe.intents.values()][0] as SimulatedIntent;
    };
    await use({
      stripe,
      connection,
      take,
      charge,
      carryOut: () => Object.assign(charge(), { status: 'succeeded', captures: 1 }),
      pay: async (invoice, differing) => {
        await api.make('/v1/payments', cardOf(invoice, differing));
        await take();
      },
      wait,
      look: async (hours) => {
        const dueAt = Date.now() + hours * HOUR_MS;
        await mustWrite({ ...needs, createId }, { environment, actor }, (unit) =>
          enqueue(unit, LOOK_FOR_SIGNALS, { input: { today: Date.now() }, dueAt }),
        );
        await wait(hours);
      },
      tryOnce: async ({ id }) => {
        await takeByGateway(needs, { environment, actor }, id);
      },
      signal: ({ body, signature }) =>
        api.call('POST', `/v1/connections/${connection.id}/signals`, {
          raw: body,
          headers: { 'stripe-signature': signature, 'x-api-key': '' },
        }),
      paymentsOf: async ({ id }) =>
        (await api.call('GET', `/v1/payments?destination_id=${id}`)).body.items,
    });
    await stripe.close();
  },
});
