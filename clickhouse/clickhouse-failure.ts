import { ClickHouseError } from '@clickhouse/client';
import { codeOf, DependencyError, messageOf } from '../runtime/failure.js';

/**
 * Answers of a server that is overloaded, starting, stopping or without a part of its cluster:
 * time-out, too many queries, network, memory, disk, read-only, too many parts, replicas, keeper,
 * killed query.
 */
const RETRYABLE_CODES = new Set([
  '159', '202', '209', '210', '225', '236', '241', '242', '243', '252', '279', '285', '319', '394',
  '439', '999',
]); // prettier-ignore

/** What the HTTP layer of the server answers when it cannot even read a request. */
const HTTP_LAYER_CODE = /^Poco::Exception\. Code: (\d+)/;

/** Code of an answer of the server (`395`), or null when no answer came. */
export function serverCodeOf(error: unknown): string | null {
  if (error instanceof ClickHouseError) return error.code;
  // The client recognises only answers that end in the name of their code, which these do not.
  return HTTP_LAYER_CODE.exec(messageOf(error))?.[1] ?? null;
}

/**
 * Any failure of a request as a DependencyError. Without an answer of the server it is retryable
 * and nothing is known about what happened; the cause keeps the code.
 */
export function clickHouseOutage(error: unknown): DependencyError {
  if (error instanceof DependencyError) return error;
  const code = serverCodeOf(error);
  const label = code ?? codeOf(error);
  const text = `ClickHouse${label === null ? '' : ` (${label})`}: ${messageOf(error)}`;
  return new DependencyError(text, {
    dependency: 'clickhouse',
    isRetryable: code === null || RETRYABLE_CODES.has(code),
    cause: error,
  });
}
