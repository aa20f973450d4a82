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

/**
 * Answers after which an insert of one block has certainly written nothing: its text was refused
 * (unknown setting, syntax, spoilt row), or it was before it wrote (too many parts).
 */
const NOTHING_WRITTEN_CODES = new Set(['27', '62', '115', '252']);
/**
 * Out of memory, mostly before the block is whole. Should it come after the part was written, the
 * insert that is sent again is refused, since its rows are there (`refuseRepeat`): the server has
 * answered, so the first one has ended.
 */
const OUT_OF_MEMORY = '241';

/** What the HTTP layer of the server answers when it cannot even read a request. */
const HTTP_LAYER_CODE = /^Poco::Exception\. Code: (\d+)/;

/** Code of an answer of the server (`395`), or null when no answer came. */
export function serverCodeOf(error: unknown): string | null {
  if (error instanceof ClickHouseError) return error.code;
  // The client recognises only answers that end in the name of their code, which these do not.
  return HTTP_LAYER_CODE.exec(messageOf(error))?.[1] ?? null;
}

/** Whether an insert that failed so may be sent again as if it had not been sent. */
export function hasWrittenNothing(error: unknown): boolean {
  if (!(error instanceof DependencyError)) return false;
  const code = serverCodeOf(error.cause);
  return code !== null && (NOTHING_WRITTEN_CODES.has(code) || code === OUT_OF_MEMORY);
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
