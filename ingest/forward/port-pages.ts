import type { RequestListener } from 'node:http';
import { z } from 'zod';
import type { Log } from '../../runtime/log.js';
import { messageOf } from '../../runtime/failure.js';
import type { PublicRate } from '../../runtime/http/public-rate.js';
import type { Operations } from '../../runtime/operational-pages.js';
import type { DependencyState, ReadinessReport } from '../../runtime/readiness.js';
import { createOperations } from '../http/operations.js';
import type { Forward } from './forward-requests.js';
import { mergeMetrics } from './merge-metrics.js';

/** Longer than billing-api waits for a dependency of its own. */
const PAGE_TIMEOUT_MS = 2_500;
const PAGES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/health', '/metrics']);

const reportShape = z.object({ dependencies: z.record(z.enum(['up', 'down'])) });

export type PortPages = {
  readonly operations: Operations;
  readonly forward: Forward;
  /**
   * Whether this port is the only one on which billing-api can be reached, so that its health and
   * metrics are shown here.
   */
  readonly isOnlyPort: boolean;
  readonly log: Log;
};

type Dependencies = ReadinessReport['dependencies'];

/** Of two reports of a dependency the worse one counts. */
function worseOf(ours: Dependencies, theirs: Dependencies): Record<string, DependencyState> {
  const all: Record<string, DependencyState> = { ...theirs };
  for (const [name, state] of Object.entries(ours)) {
    all[name] = theirs[name] === 'down' ? 'down' : state;
  }
  return all;
}

/** What billing-api says of its dependencies; null when it says nothing in time. */
async function askBillingApi({ forward, log }: PortPages): Promise<Dependencies | null> {
  try {
    const { body } = await forward.getPage('/readyz', PAGE_TIMEOUT_MS);
    return reportShape.parse(JSON.parse(body)).dependencies;
  } catch (error) {
    log.warn({ dependency: 'billing_api', error: messageOf(error) }, 'a dependency is down');
    return null;
  }
}

/**
 * The readiness of a port behind which billing-api stands. Where billing-api has a port of its own,
 * it is named and does not count: events are accepted without it, and a load balancer must go on
 * sending them here.
 */
async function readinessOf(pages: PortPages): Promise<ReadinessReport> {
  const [ours, theirs] = await Promise.all([pages.operations.readiness(), askBillingApi(pages)]);
  const billingApi: DependencyState = theirs === null ? 'down' : 'up';
  if (!pages.isOnlyPort) {
    return { ...ours, dependencies: { ...ours.dependencies, billing_api: billingApi } };
  }
  const known = worseOf(ours.dependencies, theirs ?? {});
  const dependencies = { ...known, billing_api: billingApi };
  const isReady = !ours.isStopping && Object.values(dependencies).every((state) => state === 'up');
  return { ...ours, isReady, dependencies };
}

async function metricsOf({ operations, forward, isOnlyPort }: PortPages): Promise<string> {
  const ours = await operations.metrics.registry.metrics();
  if (!isOnlyPort) return ours;
  const theirs = await forward.getPage('/metrics', PAGE_TIMEOUT_MS).catch(() => null);
  return theirs?.status === 200 ? mergeMetrics(ours, theirs.body) : ours;
}

/** Health and metrics of a port behind which billing-api stands. */
export function operationsOfPort(pages: PortPages): Operations {
  const { contentType } = pages.operations.metrics.registry;
  return {
    readiness: () => readinessOf(pages),
    metrics: { registry: { contentType, metrics: () => metricsOf(pages) } },
  };
}

/**
 * What a port answers beside the event routes when billing-api stands behind it: the operational
 * pages speak for both programs, and everything else is sent on.
 */
export function createPortListener(
  operations: Operations,
  { forward, rate }: { readonly forward: Forward; readonly rate: PublicRate },
): RequestListener {
  const answerPages = createOperations(operations, rate);
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const isPage = PAGES.has(path) && (request.method === 'GET' || request.method === 'HEAD');
    if (isPage) answerPages(request, response);
    else forward.listener(request, response);
  };
}
