import pc from 'picocolors';
import type { Verdict } from './checks/verdict.js';
import type { LogKind } from './engines/fault-engines.js';
import type { RunReport } from './random/random-run.js';

function whatIsWrong({ verdict: { lost, double }, isSettled }: RunReport): string {
  if (isSettled) return `WRONG: ${lost} lost, ${double} double`;
  return `NOT SETTLED: ${lost} missing so far, ${double} double`;
}

/** One line a run: seed, what went wrong, what became of the events. */
export function lineOfRun(report: RunReport): string {
  const { counts, problems } = report.verdict;
  const balance =
    `${counts.accepted}+${counts.landedUnknown} accepted = ${counts.counted} counted + ` +
    `${counts.unmatched} unmatched + ${counts.duplicates} duplicate`;
  const verdict = problems.length === 0 ? pc.green('exact') : pc.red(whatIsWrong(report));
  return [
    `${report.log} seed ${report.seed}`,
    verdict,
    `${balance} (${counts.conflicts} conflicts, ${counts.deadLetters} dead letters, ${counts.buckets} buckets, ${counts.batches} batches)`,
    `${report.aggregators} aggregators, ${report.unknownOutcomes} unanswered, ${report.samples} looks, ${counts.restarts} restarts`,
    report.faults.join(', '),
    `${report.seconds.toFixed(1)} s`,
  ].join(' · ');
}

/** One line a scenario. */
export function lineOfScenario(name: string, verdict: Verdict, seconds: number): string {
  const { counts, lost, double, problems } = verdict;
  const outcome =
    problems.length === 0 ? pc.green('holds') : pc.red(`BROKEN: ${lost} lost, ${double} double`);
  const figures = `${counts.accepted}+${counts.landedUnknown} accepted, ${counts.batches} batches`;
  return `${outcome}: ${name} (${figures}, ${seconds.toFixed(1)} s)`;
}

/** Sums over runs, or scenarios, of one log. */
export class Tally {
  count = 0;
  lost = 0;
  double = 0;
  /** Those with any problem, also without anything lost or double, and those not settled. */
  wrong = 0;

  constructor(
    private readonly noun: 'runs' | 'scenarios',
    private readonly log: LogKind,
  ) {}

  add(outcome: Pick<Verdict, 'lost' | 'double' | 'problems'>): void {
    this.count += 1;
    this.lost += outcome.lost;
    this.double += outcome.double;
    if (outcome.problems.length > 0) this.wrong += 1;
  }

  get line(): string {
    const wrong = this.wrong === 0 ? '' : `, ${this.wrong} wrong or not settled`;
    const sums = `${this.count} ${this.noun}, ${this.lost} lost, ${this.double} double`;
    return `${sums}${wrong} (${this.log} log)`;
  }
}
