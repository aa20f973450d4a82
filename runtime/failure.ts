export type Dependency = 'postgres' | 'clickhouse' | 'event-log' | 'billing-api';

/**
 * An outage: a database or the log did not do what it was asked. `isRetryable` is decided from
 * error codes, never from message text. The catcher retries within bounds, answers 503 or stops its
 * loop.
 */
export class DependencyError extends Error {
  readonly dependency: Dependency;
  readonly isRetryable: boolean;

  constructor(
    message: string,
    facts: {
      readonly dependency: Dependency;
      readonly isRetryable: boolean;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: facts.cause });
    this.name = 'DependencyError';
    this.dependency = facts.dependency;
    this.isRetryable = facts.isRetryable;
  }
}

/**
 * An assumption of our own code does not hold: a bug. A worker that meets one exits and leaves its
 * offsets uncommitted.
 */
export class AssertionFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AssertionFailed';
  }
}

/** @throws AssertionFailed when the condition does not hold. */
export function assertThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}

/** A value that must be present. @throws AssertionFailed when it is null or undefined. */
export function assertPresent<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new AssertionFailed(`${what} is missing`);
  return value;
}

/** The message of anything that was thrown, for logs and for messages of our own tools. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The machine-readable code of an error (`ECONNREFUSED`, SQLSTATE, ClickHouse number), or null. */
export function codeOf(thrown: unknown): string | null {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return null;
  const { code } = thrown;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : null;
}
