import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Job } from '../../sql/jobs/job.js';
import type { JobNeeds } from '../jobs/job-needs.js';
import { billingRunner } from './bill-environment.js';
import { test as billedTest } from './billed-test.js';
import { expectBalancedBooks } from './check-books.js';
import type { Answer } from './money-test.js';
import { setEnvironmentType } from './set-test-clock.js';

export const CLOCKS = '/v1/test_clocks';

/** Advances a clock, and runs the jobs of a process until it is there. */
export type AdvanceTo = (clock: Answer, now: string) => Promise<Answer>;

/**
 * `test` of the API in an environment of development, whose test clock it turns; the books are
 * verified after it. `moreJobs` are those that run beside the billing jobs.
 */
export const test = billedTest.extend<{
  advance: AdvanceTo;
  moreJobs: readonly Job<JobNeeds>[];
}>({
  moreJobs: async ({}, use) => use([]),
  advance: async ({ api, database, clickhouse, moreJobs }, use) => {
    await setEnvironmentType(database.database, api.environment, 'development');
    const world = { database: database.database, clickHouse: clickhouse.client };
    const runner = billingRunner({ ...world, environment: api.environment }, moreJobs);
    await use(async ({ id }, now) => {
      const begun = await api.call('POST', `${CLOCKS}/${id}/advance`, { body: { now } });
      expect([begun.status, begun.body.status]).toEqual([202, 'advancing']);
      for (;;) {
        await runner.runDue(Date.parse(now));
        const { body } = await api.call('GET', `${CLOCKS}/${id}`);
        if (body.status !== 'advancing') return body;
        await setTimeout(20);
      }
    });
    await expectBalancedBooks(api);
  },
});
