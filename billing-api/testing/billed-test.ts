import { test as billingTest } from './billing-test.js';
import { billUntil } from './bill-environment.js';

/** Turns the clock of the environment, and does what is then due. */
export type Bill = (instant: string) => Promise<void>;

/** `test` of the API with the billing jobs, which run when the test says so. */
export const test = billingTest.extend<{ bill: Bill }>({
  bill: async ({ api, database, clickhouse }, use) => {
    const world = { database: database.database, clickHouse: clickhouse.client };
    await use((instant) => billUntil({ ...world, environment: api.environment }, instant));
  },
});
