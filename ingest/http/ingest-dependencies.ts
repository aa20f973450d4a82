import type { EventLogWriter } from '../../event-log/interface/event-log.js';
import type { BodyBudgetLimits } from '../../runtime/http/body-budget.js';
import type { FailedAuthentication } from '../../runtime/http/failed-authentication.js';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import type { HeldRequests } from '../held/held-requests.js';
import type { ApiKeys } from './admit.js';

/** What the event routes need from the program that serves them. */
export type IngestDependencies = {
  readonly writer: EventLogWriter;
  readonly apiKeys: ApiKeys;
  readonly metrics: Metrics;
  readonly log: Log;
  /** What waits for the log; dates events by its clock. */
  readonly held: HeldRequests;
  readonly failedAuthentication: FailedAuthentication;
  /** The quota of an environment; 0 sets no limit. */
  readonly requestsPerSecond: number;
  /** The memory for bodies; tests set less. */
  readonly bodyLimits?: BodyBudgetLimits;
};
