import { setTimeout as delay } from 'node:timers/promises';
import { DependencyError } from '../../../../runtime/failure.js';
import { isMetered } from '../load/usage-meter.js';
import type { World } from '../world/world.js';
import { expectedUsage, eventTextOfBody } from './oracle.js';
import { checkDeadLetters } from './check-dead-letters.js';
import { checkReconciliation } from './check-reconciliation.js';
import { isConflict, readLog, type LogContent } from './read-log.js';
import {
  readEvents,
  readGenerations,
  readDuplicates,
  readTotals,
  readUsage,
  type Duplicates,
} from './read-stores.js';
import { Findings, type Counts, type Verdict } from './verdict.js';

const total = (numbers: Iterable<number>): number => {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
};

/** I1: whatever was answered with 202 is in the log, and nothing that nobody sent. */
function checkLog(world: World, log: LogContent, findings: Findings): void {
  const { sent } = world.ledger;
  for (const [identity, { accepted, attempts, body }] of sent) {
    const occurrences = log.events.get(identity) ?? [];
    if (occurrences.length < accepted) {
      findings.noteLost(
        'accepted and not in the log',
        `${identity}: accepted ${accepted} times, there ${occurrences.length} times`,
      );
    }
    if (occurrences.length > attempts) {
      findings.noteDouble('in the log too often', `${identity}: ${occurrences.length}`);
    }
    const [first] = occurrences;
    if (first !== undefined && first.text !== eventTextOfBody(body)) {
      findings.note('the first occurrence is another event', `${identity}: ${first.text}`);
    }
  }
  for (const identity of log.events.keys()) {
    if (!sent.has(identity)) findings.note('in the log and never sent', identity);
  }
}

/** I2: each id of the log is stored once, as what it was first. */
function checkEvents(
  log: LogContent,
  events: ReadonlyMap<string, readonly string[]>,
  findings: Findings,
): void {
  for (const [identity, [{ text: first } = { text: '' }]] of log.events) {
    const [stored, ...more] = events.get(identity) ?? [];
    if (stored === undefined) findings.noteLost('no event row', identity);
    else if (stored !== first) {
      findings.note('the event row differs', `${identity}: ${stored} and not ${first}`);
    }
    if (more.length > 0) findings.noteDouble('several event rows', identity);
  }
  for (const identity of events.keys()) {
    if (!log.events.has(identity)) findings.noteDouble('an event row of nothing', identity);
  }
}

/** Every further occurrence is a duplicate, and a conflict when it says something else. */
function checkDuplicates(
  log: LogContent,
  duplicates: ReadonlyMap<string, Duplicates>,
  findings: Findings,
): void {
  for (const [identity, occurrences] of log.events) {
    const wanted = occurrences.length - 1;
    const conflicts = occurrences.filter((found) => isConflict(found, occurrences)).length;
    const found = duplicates.get(identity) ?? { duplicates: 0, conflicts: 0 };
    if (found.duplicates !== wanted) {
      findings.note('duplicates', `${identity}: ${found.duplicates} instead of ${wanted}`);
    }
    if (found.conflicts !== conflicts) {
      findings.note('conflicts', `${identity}: ${found.conflicts} instead of ${conflicts}`);
    }
  }
}

type Facts = { readonly events: number; readonly inLog: number };

async function checkTotals(world: World, facts: Facts, findings: Findings): Promise<number> {
  const { events, inLog } = facts;
  const totals = await readTotals(world.clickhouse);
  // The product's own count of what it was given, against the log.
  if (totals.accepted !== inLog) {
    findings.note('accepted by its own books', `${totals.accepted} of ${inLog} in the log`);
  }
  if (totals.ids > totals.distinct_ids) findings.noteDouble('id rows', `${totals.ids} rows`);
  if (totals.distinct_ids !== events) {
    findings.note('ids', `${totals.distinct_ids} ids beside ${events} events`);
  }
  if (totals.wrong_markers > 0) {
    findings.noteDouble(
      'markers',
      `${totals.wrong_markers} partitions have batches that are not there once`,
    );
  }
  return totals.markers;
}

/** I3: every minute bucket of every meter. Returns how many buckets there are. */
async function checkUsage(world: World, findings: Findings): Promise<number> {
  const generations = await readGenerations(world);
  let buckets = 0;
  for (const meter of world.meters) {
    const expected = expectedUsage(world.ledger, meter);
    const found = await readUsage(world, meter, generations.get(meter.meterId) ?? []);
    findings.compare(`usage of ${meter.meterId}`, expected, found);
    buckets += expected.size;
  }
  return buckets;
}

function countUnmatched(world: World): number {
  return total(
    [...world.ledger.sent.values()].map(({ environment, body }) =>
      world.meters.some((meter) => meter.environment === environment && isMetered(meter, body))
        ? 0
        : 1,
    ),
  );
}

/**
 * I5: every event that was accepted, or stored although its sender got no answer, is counted,
 * unmatched or a duplicate.
 */
function checkBalance(counts: Counts, findings: Findings): void {
  const { accepted, landedUnknown, counted, unmatched, duplicates } = counts;
  const difference = accepted + landedUnknown - counted - unmatched - duplicates;
  if (difference !== 0) findings.note('books', `they differ by ${difference}`);
}

const ATTEMPTS = 8;
const PAUSE_MS = 500;

/**
 * Compares a settled world with what its clients know and with its log. A query may fail
 * on a busy machine and is then repeated.
 */
export async function computeVerdict(world: World): Promise<Verdict> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await compare(world);
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof DependencyError)) throw error;
      await delay(PAUSE_MS);
    }
  }
}

async function compare(world: World): Promise<Verdict> {
  const findings = new Findings();
  for (const answer of world.ledger.wrongAnswers) findings.note('an unexpected answer', answer);
  const crashes = world.unexpectedEnds;
  for (const end of crashes) findings.note('a program crashed', end);
  const log = await readLog(await world.logReader());
  const events = await readEvents(world.clickhouse);
  const duplicates = await readDuplicates(world.clickhouse);
  checkLog(world, log, findings);
  checkEvents(log, events, findings);
  checkDuplicates(log, duplicates, findings);
  const inLog = total([...log.events.values()].map((occurrences) => occurrences.length));
  await checkDeadLetters(world, log.malformed, findings);
  const batches = await checkTotals(world, { events: events.size, inLog }, findings);
  const buckets = await checkUsage(world, findings);
  if (world.hasBillingApi) await checkReconciliation(world, log, findings);
  const accepted = world.ledger.acceptedEvents;
  const unmatched = countUnmatched(world);
  const counts: Counts = {
    accepted,
    landedUnknown: inLog - accepted,
    counted: events.size - unmatched,
    unmatched,
    duplicates: total([...duplicates.values()].map((found) => found.duplicates)),
    conflicts: total([...duplicates.values()].map((found) => found.conflicts)),
    deadLetters: log.malformed.length,
    buckets,
    batches,
    restarts: world.restarts,
  };
  checkBalance(counts, findings);
  const { lost, double, problems } = findings;
  return { counts, lost, double, problems, crashes };
}
