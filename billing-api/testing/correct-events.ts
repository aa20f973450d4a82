import { expect } from 'vitest';
import { CORRECTION_JOBS } from '../jobs/correct-events.js';
import { billingRunner, type BilledWorld } from './bill-environment.js';
import type { Answer, BillingUnderTest } from './billing-harness.js';

type Correcting = Omit<BilledWorld, 'environment'> & { readonly api: BillingUnderTest };

/** Does what the jobs of corrections have to do. */
export function runCorrectionJobs({ api, ...engines }: Correcting): Promise<unknown> {
  const world = { ...engines, environment: api.environment };
  return billingRunner(world, CORRECTION_JOBS).runDue(Date.now());
}

/** A correction that is prepared: ready, or failed. */
export async function prepare(world: Correcting, body: object): Promise<Answer['body']> {
  const { id } = await world.api.make('/v1/corrections', { reason: 'a test', ...body });
  await runCorrectionJobs(world);
  return (await world.api.call('GET', `/v1/corrections/${id}`)).body;
}

/** Prepares a correction and applies what its preview shows. */
export async function correct(world: Correcting, body: object): Promise<Answer['body']> {
  const { id, token, ...ready } = await prepare(world, body);
  expect(ready).toMatchObject({ correction_status: 'ready', error: null });
  return world.api.make(`/v1/corrections/${id}/apply`, { token });
}

/** Reverts a correction, and withdraws the events of a backfill. */
export async function revert(world: Correcting, id: string): Promise<Answer['body']> {
  await world.api.make(`/v1/corrections/${id}/revert`, { reason: 'it was wrong' });
  await runCorrectionJobs(world);
  return (await world.api.call('GET', `/v1/corrections/${id}`)).body;
}
