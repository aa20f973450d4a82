import { messageOf } from './failure.js';
import type { Log } from './log.js';
import { reusedFor } from './reused.js';

export type DependencyState = 'up' | 'down';
export type ReadinessReport = {
  readonly isReady: boolean;
  /** The program ends soon, so that it is not ready whatever its dependencies are. */
  readonly isStopping: boolean;
  readonly dependencies: Readonly<Record<string, DependencyState>>;
};

/** Reports the state of every dependency. Never rejects. */
export type Readiness = () => Promise<ReadinessReport>;

/** A dependency that does not answer within this time is down. */
const PROBE_TIMEOUT_MS = 2_000;
/** A report is reused for this long, so that frequent health checks do not load dependencies. */
const REPORT_REUSED_MS = 1_000;

type Probe = () => Promise<unknown>;

async function stateOf(name: string, probe: Probe, log: Log): Promise<DependencyState> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), PROBE_TIMEOUT_MS);
  });
  try {
    await Promise.race([probe(), late]);
    return 'up';
  } catch (error) {
    log.warn({ dependency: name, error: messageOf(error) }, 'a dependency is down');
    return 'down';
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reports the named dependencies; probes them at most once a second.
 * @param lifecycle of a program that goes on serving while it stops.
 */
export function createReadiness(
  probes: Readonly<Record<string, Probe>>,
  log: Log,
  lifecycle: { readonly isStopping: boolean } = { isStopping: false },
): Readiness {
  const ask = reusedFor(REPORT_REUSED_MS, async (): Promise<ReadinessReport> => {
    const states = await Promise.all(
      Object.entries(probes).map(
        async ([name, probe]) => [name, await stateOf(name, probe, log)] as const,
      ),
    );
    const isReady = states.every(([, state]) => state === 'up');
    return { isReady, isStopping: false, dependencies: Object.fromEntries(states) };
  });
  return async () => {
    const known = await ask();
    return lifecycle.isStopping ? { ...known, isReady: false, isStopping: true } : known;
  };
}
