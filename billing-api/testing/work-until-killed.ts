import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../../contract/environment.js';
import { builtModule } from '../../runtime/project.js';

/** What a process is to do, and where. */
export type KilledWork = {
  readonly databaseUrl: string;
  readonly clickHouseUrl: string;
  readonly environment: Environment;
  /** Names of jobs. */
  readonly jobs: readonly string[];
  /** How far its clock is turned. */
  readonly turnedMs: number;
  /** Whether all that was received counts as counted, as where nothing is received. */
  readonly isAllCounted?: boolean;
};

/** Carries jobs out in a process of its own, which is killed with SIGKILL when it is time. */
export async function workUntilKilled(
  work: KilledWork,
  untilTime: () => Promise<unknown>,
): Promise<void> {
  const child = fork(builtModule('billing-api/testing/jobs-as-worker'), [JSON.stringify(work)]);
  const exited = once(child, 'exit');
  try {
    await once(child, 'message');
    await untilTime();
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}
