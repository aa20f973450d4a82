import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { messageOf } from '../../runtime/failure.js';
import { createId } from '../../runtime/ids.js';
import type { Log } from '../../runtime/log.js';
import { startRepeated } from '../../runtime/repeated.js';
import { Rest } from '../../runtime/rest.js';
import { createSeldom } from '../../runtime/seldom.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import type { HeldRequests } from './held-requests.js';

/**
 * While events come, one is known to be counted so much later than it is, at most. At rest the
 * report says no more than that none has come.
 */
const REPORT_EVERY = { busyMs: 250, restMs: 1_000 };
/** Reports fail as often as they come, so one log line in this time is enough. */
const LOG_INTERVAL_MS = 10_000;

const reportProcess = statement('report-ingest-process', z.unknown());
const leaveProcess = statement('leave-ingest-process', z.unknown());

/** Where a process of ingest says since when it may hold events. */
export type IngestRegister = {
  /** The process counts from the first report on. @throws DependencyError. */
  readonly report: (heldSince: InstantMs) => Promise<void>;
  /** It counts no more. @throws DependencyError. */
  readonly leave: () => Promise<void>;
};

/** @param silentMaxMs for how long the process counts when no report of it comes. */
export function createIngestRegister(
  { slonik }: Pick<Database, 'slonik'>,
  { log, silentMaxMs }: { readonly log: string; readonly silentMaxMs: number },
): IngestRegister {
  const id = createId('ingest');
  const silentSeconds = silentMaxMs / 1_000;
  return {
    report: async (since) => {
      const heldSince = formatInstant(since);
      await slonik.query(reportProcess({ process: id, log, heldSince, silentSeconds }));
    },
    leave: async () => {
      await slonik.query(leaveProcess({ process: id }));
    },
  };
}

/** One report; it counts as taken from when it was sent. @throws DependencyError. */
export async function reportHeld(held: HeldRequests, register: IngestRegister): Promise<void> {
  const sent = held.moment();
  await register.report(held.report());
  held.noteTaken(sent);
}

/**
 * Reports what is held again and again, once before it resolves. @returns a function that ends the
 * reports, for when no request comes any more. The process is then taken from the list. If
 * something that it has given up may still come into the log, it is forgotten in time instead.
 * @throws DependencyError when the first report is not taken.
 */
export async function startReports(
  held: HeldRequests,
  register: IngestRegister,
  log: Log,
): Promise<() => Promise<void>> {
  await reportHeld(held, register);
  const say = createSeldom(LOG_INTERVAL_MS);
  const failure = 'what is held could not be reported';
  const failed = (error: unknown): void => {
    say(() => log.warn({ error: messageOf(error) }, failure));
  };
  const rest = new Rest(REPORT_EVERY);
  held.watch(() => {
    rest.stir();
  });
  const stop = startRepeated({
    failure,
    log,
    everyMs: rest,
    firstDelayMs: REPORT_EVERY.busyMs,
    work: () => reportHeld(held, register).catch(failed),
  });
  return async () => {
    await stop();
    if (held.isIdle) await register.leave().catch(failed);
  };
}
