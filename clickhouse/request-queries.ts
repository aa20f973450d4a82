import type { ClickHouseSettings } from '@clickhouse/client';
import { environmentKey, type Environment } from '../contract/environment.js';
import { DependencyError, messageOf } from '../runtime/failure.js';
import { takeTurn } from '../runtime/loop-turns.js';
import { FairQueue, type FairQueueLimits } from '../runtime/fair-queue.js';
import { serverCodeOf } from './clickhouse-failure.js';
import type { ClickHouse, ClickHouseQueries } from './client.js';

type RowVisit = (row: readonly unknown[]) => void;

/** On whose behalf a request asks, and until when somebody waits for the answer. */
export type QueryScope = { readonly environment: Environment; readonly signal: AbortSignal };

/** A query needed more time or memory than a request may use; the caller must ask for less. */
export class QueryTooLarge extends Error {
  constructor(options: { readonly cause: unknown }) {
    super('a query was above its limits', options);
    this.name = 'QueryTooLarge';
  }
}

/**
 * Of one statement. The longest of the product's own takes some seconds at the sizes of
 * docs/internals/measurements.md; memory is a share of the smallest embedded server's.
 */
export const QUERY_LIMITS = { seconds: 20, memoryBytes: 750_000_000 } as const;

/** Visits rows for as long as a statement may run, or throws QueryTooLarge. */
function withinTime(visit: RowVisit, visitMsMax: number): RowVisit {
  let leftMs = visitMsMax;
  return (row) => {
    if (leftMs <= 0) throw new QueryTooLarge({ cause: `the rows took ${visitMsMax} ms` });
    const beganMs = performance.now();
    visit(row);
    leftMs -= performance.now() - beganMs;
  };
}

/**
 * Two statements of one tenant at a time use as many threads as there are cores, since one
 * uses half of them (embedded.ts, docs/operations.md 1.3), so a statement of another tenant
 * takes at most half as long again. In all, fewer run than the client has connections.
 */
const QUEUE: FairQueueLimits = {
  runningMax: 12,
  runningPerKeyMax: 2,
  waitingPerKeyMax: 200,
  waitMsMax: 15_000,
};

/**
 * Limits of time, rows, bytes and memory: TIMEOUT_EXCEEDED, TOO_SLOW, TOO_MANY_ROWS,
 * TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES, MEMORY_LIMIT_EXCEEDED.
 */
const LIMIT_CODES = new Set(['159', '160', '158', '307', '396', '241']);

function settingsOf(environment: Environment): ClickHouseSettings {
  return {
    // The row policies of the API's user show the rows of the environment that stands here.
    log_comment: environmentKey(environment),
    // Reads only, whoever the user is. The server cancels only such for a client that left.
    readonly: '2',
    cancel_http_readonly_queries_on_client_close: 1,
    max_execution_time: QUERY_LIMITS.seconds,
    max_memory_usage: String(QUERY_LIMITS.memoryBytes),
  };
}

/**
 * Whether memory ended because of everybody's queries. The server has one code for the limit of a
 * query, which the caller can mend, and for those of a user and of the whole server. Only the text
 * tells them apart (26.7: "Query memory limit exceeded", before: "(for query)").
 */
function isMemoryOfOthers(code: string, error: unknown): boolean {
  return code === '241' && !/query memory limit|\(for query\)/i.test(messageOf(error));
}

function failureOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (!(error instanceof DependencyError)) return error;
  const code = serverCodeOf(error.cause);
  if (code === null || !LIMIT_CODES.has(code) || isMemoryOfOthers(code, error.cause)) return error;
  return new QueryTooLarge({ cause: error });
}

/**
 * Queries on behalf of one environment, within the limits of one statement. The user who reads
 * usage sees the rows of the environment that a query names, and none where it names none.
 */
export function queriesFor(clickHouse: ClickHouse, environment: Environment): ClickHouseQueries {
  return clickHouse.withOptions({ settings: settingsOf(environment) });
}

/**
 * Queries of requests: each runs for one environment and within limits, ends when its client
 * leaves, and waits in turn with those of other tenants.
 * @param scopeOf the scope of the request at hand.
 * @param visitMsMax how long the rows of one query may be worked on, in all.
 * Queries throw QueryTooLarge, NotBegun, the reason of the scope's signal, or as ClickHouse does.
 */
export function createRequestQueries(
  clickHouse: ClickHouse,
  scopeOf: () => QueryScope,
  visitMsMax = QUERY_LIMITS.seconds * 1000,
): ClickHouseQueries {
  const queue = new FairQueue(QUEUE);
  const run = <T>(work: (queries: ClickHouseQueries) => Promise<T>): Promise<T> => {
    const { environment, signal } = scopeOf();
    const queries = clickHouse.withOptions({ settings: settingsOf(environment), signal });
    const limited = async (): Promise<T> => {
      const answer = await work(queries).catch((error: unknown) => {
        throw failureOf(error, signal);
      });
      await takeTurn(environment.tenantId);
      return answer;
    };
    return queue.run(environment.tenantId, limited, signal);
  };
  return {
    query: (select, parameters, row) => run((queries) => queries.query(select, parameters, row)),
    visitRows: (query, visit) =>
      run((queries) => queries.visitRows(query, withinTime(visit, visitMsMax))),
  };
}
