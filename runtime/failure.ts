export type Dependency = 'postgres' | 'clickhouse' | 'event-log';

/**
 * An outage: a database or the log did not do what was asked. `isRetryable` comes from error codes,
 * never from message text; whoever catches it retries with bounds, answers 503 or stops its loop.
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
 * A statement about our own code that turned out false: a bug. A worker exits on it with its
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

/** The value, which our own code promises to be there. @throws AssertionFailed when it is not. */
export function assertPresent<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new AssertionFailed(`${what} is missing`);
  return value;
}

/** Text of anything that was thrown, for logs and messages of our own tools. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The machine-readable code of an error (`ECONNREFUSED`, SQLSTATE, ClickHouse number), or null. */
export function codeOf(thrown: unknown): string | null {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return null;
  const { code } = thrown;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : null;
}
