import { setTimeout as delay } from 'node:timers/promises';
import { MEMBER_ALIVE_SECONDS } from '../../sql/aggregator-member.js';
import { messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import { listen, type Listening } from '../../sql/listen.js';
import { planOf, type Claim } from './assign-partitions.js';
import { SHARING_CHANNEL, type Membership, type SharingView } from './membership.js';

const BEAT_MS = 1_000;
const NOTICED = `the others notice after ${MEMBER_ALIVE_SECONDS} s`;
/**
 * How long a live owner may take to finish its batch. After that its partition is taken anyway, and
 * the epoch fences it. Long enough for the largest batch, so that none is written in vain.
 */
const HAND_OVER_MAX_MS = 10_000;

/** What runs the partitions of this process. */
export type Runner = {
  /** Starts the listed partitions that do not run yet and stops all others; does not wait. */
  assign(partitions: ReadonlySet<number>): void;
  isRunning(partition: number): boolean;
  /** Called after each reading of who owns what. */
  observe(view: SharingView): void;
};

type Options = {
  readonly membership: Membership;
  readonly runner: Runner;
  readonly logger: Log;
  /** Where notifications come from, and of which log. */
  readonly databaseUrl: string;
  readonly logId: string;
};

/**
 * Shares the partitions with the other processes of the log: reads who owns what every second, and
 * at once when another process announces a change.
 */
export class PartitionSharing {
  readonly #awaited = new Map<number, { readonly from: string | null; readonly sinceMs: number }>();
  readonly #stop = new AbortController();
  #listening: Listening | null = null;
  #sharing: Promise<void> = Promise.resolve();
  #isLeaving = false;
  #isAnnounced = false;
  #isNoticed = false;
  #wake: () => void = () => undefined;

  constructor(private readonly options: Options) {}

  start(): void {
    const { databaseUrl, logId } = this.options;
    this.#sharing = this.#shareForEver();
    const at = { channel: SHARING_CHANNEL, payload: logId };
    this.#listening = listen(databaseUrl, at, () => {
      this.#isNoticed = true;
      this.#wake();
    });
  }

  /** From now on this process is assigned no partitions; what it releases goes to the others. */
  async startLeaving(): Promise<void> {
    this.#isLeaving = true;
    try {
      await this.options.membership.beat(true);
      await this.options.membership.announce();
    } catch (error) {
      this.#warn(
        error,
        `could not tell the other aggregators that this one is leaving; ${NOTICED}`,
      );
    }
  }

  /** Removes this process from the list of members; call it when no partition runs any more. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await Promise.all([this.#sharing, this.#listening?.close()]);
    try {
      await this.options.membership.leave();
    } catch (error) {
      this.#warn(error, `could not leave the list of aggregators; ${NOTICED}`);
    }
  }

  #warn(error: unknown, message: string): void {
    this.options.logger.warn({ error: messageOf(error) }, message);
  }

  async #shareForEver(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#isNoticed = false;
      try {
        await this.#share();
      } catch (error) {
        this.#warn(
          error,
          'could not read or change who owns which partition; tried again within a second',
        );
      }
      if (!this.#isNoticed) await this.#waitForBeat();
    }
  }

  async #waitForBeat(): Promise<void> {
    const wake = new AbortController();
    this.#wake = () => {
      wake.abort();
    };
    if (this.#stop.signal.aborted) return;
    await delay(BEAT_MS, undefined, { signal: wake.signal }).catch(() => undefined);
  }

  async #share(): Promise<void> {
    const { membership, runner } = this.options;
    const view = await membership.beat(this.#isLeaving);
    const plan = planOf(membership.memberId, view);
    const claims = [...plan.claim, ...this.#overdue(plan.awaited)];
    const claimed = claims.length === 0 ? [] : await membership.claim(claims);
    runner.assign(new Set([...plan.keep, ...claimed]));
    // A partition that runs is released when its run ends; one that does not run is released here.
    const idle = plan.give.filter((partition) => !runner.isRunning(partition));
    for (const partition of idle) await membership.release(partition, false);
    if (!this.#isAnnounced) await membership.announce();
    this.#isAnnounced = true;
    runner.observe(view);
  }

  /** Partitions that a live owner has not released in time. */
  #overdue(awaited: readonly Claim[]): readonly Claim[] {
    const nowMs = performance.now();
    const before = new Map(this.#awaited);
    this.#awaited.clear();
    return awaited.filter(({ partition, from }) => {
      const known = before.get(partition);
      const sinceMs = known?.from === from ? known.sinceMs : nowMs;
      this.#awaited.set(partition, { from, sinceMs });
      if (nowMs - sinceMs < HAND_OVER_MAX_MS) return false;
      this.options.logger.warn(
        { partition, from },
        'partition taken from an owner that did not release it in time',
      );
      return true;
    });
  }
}
