import { BackendTerminatedError, ConnectionError } from 'slonik';
import { codeOf, DependencyError, messageOf } from '../runtime/failure.js';
import { outageOfState } from './sql-state.js';

const NETWORK_CODE = /^(ECONN[A-Z]*|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

const OUTAGE_CLASSES = [BackendTerminatedError, ConnectionError] as const;

/** The error and its causes, outermost first; bounded, because causes could form a circle. */
export function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  let link: unknown = error;
  while (link !== undefined && link !== null && chain.length < 8) {
    chain.push(link);
    link = link instanceof Error ? link.cause : undefined;
  }
  return chain;
}

type OutageKind = 'retryable' | 'lasting' | 'not-an-outage';

function outageKindOf(error: unknown): OutageKind {
  const chain = chainOf(error);
  const codes = chain.map((link) => codeOf(link) ?? '');
  const kinds = codes.map(outageOfState);
  if (kinds.includes('lasting')) return 'lasting';
  if (kinds.includes('retryable') || codes.some((code) => NETWORK_CODE.test(code))) {
    return 'retryable';
  }
  const isOutage = chain.some((link) => OUTAGE_CLASSES.some((type) => link instanceof type));
  return isOutage ? 'retryable' : 'not-an-outage';
}

/**
 * The error to throw instead of an error of the driver: a DependencyError when PostgreSQL could not
 * be reached, stopped or timed out, otherwise the error itself (violated constraints, missing rows,
 * bugs). It is decided from SQLSTATEs, system codes and error classes, never from message texts.
 */
export function outageOf(error: unknown): unknown {
  if (error instanceof DependencyError) return error;
  const kind = outageKindOf(error);
  return kind === 'not-an-outage' ? error : postgresOutage(error, kind === 'retryable');
}

/** A DependencyError of PostgreSQL with the message of the root cause. */
export function postgresOutage(error: unknown, isRetryable: boolean): DependencyError {
  const root = chainOf(error).at(-1);
  return new DependencyError(`PostgreSQL: ${messageOf(root)}`, {
    dependency: 'postgres',
    isRetryable,
    cause: error,
  });
}

/** Like `outageOf`, for opening a connection: any failure to do so is an outage. */
export function connectOutageOf(error: unknown): DependencyError {
  return postgresOutage(error, outageKindOf(error) !== 'lasting');
}
