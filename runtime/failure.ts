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

/** The value of a key that a map must have. @throws AssertionFailed when the map lacks the key. */
export function mustGet<K, V>(map: Pick<ReadonlyMap<K, V>, 'get'>, key: K, what: string): V {
  return assertPresent(map.get(key), what);
}

/**
 * Pairs of the elements at the same places of two lists that belong together.
 * @throws AssertionFailed when one list is longer, since an element without its partner would be
 *   lost, or become a 0.
 */
export function zip<L, R>(
  left: readonly L[],
  right: readonly R[],
): readonly (readonly [left: L, right: R])[] {
  const partners = right.values();
  const pairs = left.map((one) => {
    const partner = partners.next();
    if (partner.done === true) throw unequalLists(left, right);
    return [one, partner.value] as const;
  });
  if (right.length !== left.length) throw unequalLists(left, right);
  return pairs;
}

function unequalLists(left: readonly unknown[], right: readonly unknown[]): AssertionFailed {
  return new AssertionFailed(`a list of ${left.length} and one of ${right.length} make no pairs`);
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
