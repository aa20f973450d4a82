import type { InstantMs } from '../../../contract/instant.js';
import { HeldRequests, type HeldRequest } from '../../../ingest/held/held-requests.js';

/** Rules that can be left out, each of which a walk must miss. */
export const MUTATIONS = [
  'ends_before_reports',
  'accepts_before_reporting',
  'accepts_when_silent',
  'answers_late',
  'leaves_holding',
  'reports_now',
  'forgets_a_partition',
  'counts_own_records_only',
] as const;
export type Mutation = (typeof MUTATIONS)[number];

const PRODUCE_TIMEOUT_MS = 80;
const SILENT_MS = 150;
/** For how long a process counts without a report. */
export const SILENT_MAX_MS = 2 * SILENT_MS + PRODUCE_TIMEOUT_MS;

/** As HeldRequests, with a rule left out. */
export class SpoiltRequests extends HeldRequests {
  constructor(
    private readonly without: Mutation | null,
    private readonly time: () => InstantMs,
  ) {
    const silentMs = without === 'accepts_when_silent' ? 1_000_000 : SILENT_MS;
    const clocks = { clock: { now: time }, elapsedMs: time };
    super({ produceTimeoutMs: PRODUCE_TIMEOUT_MS, silentMs }, clocks);
  }

  override get isReporting(): boolean {
    return this.without === 'accepts_before_reporting' || super.isReporting;
  }

  override hold(receivedAtMs: InstantMs, onLate: () => void): HeldRequest {
    if (this.without !== 'reports_now') return super.hold(receivedAtMs, onLate);
    return super.hold(Math.max(receivedAtMs, this.time()), onLate);
  }

  override acknowledge(request: HeldRequest): boolean {
    return super.acknowledge(request) || this.without === 'answers_late';
  }

  override report(): InstantMs {
    return this.without === 'reports_now' ? this.now() : super.report();
  }
}
