import type { Environment } from '../../../contract/environment.js';
import { findReplays, type Replay } from './dead-letter-replays.js';
import { letterIdOf, type DeadLetter, type DeadLetters } from './dead-letters-store.js';
import type { BillingDatabase, ReadDependencies } from '../../records/unit.js';
import { endProblem, MemberReader } from '../../records/member-rules.js';
import type { Refusal } from '../../records/refusal.js';

const LIMIT_DEFAULT = 50;
const APPENDED_END = Date.UTC(2200, 0, 1);

export type DeadLettersRequest = {
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
};

export type DeadLettersPage = {
  readonly letters: readonly (DeadLetter & { readonly replays: readonly Replay[] })[];
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
};

function replaysOf(
  database: BillingDatabase,
  environment: Environment | null,
  letters: readonly DeadLetter[],
): Promise<ReadonlyMap<string, readonly Replay[]>> {
  if (environment === null) return findReplays(database.slonik, letters, { isOperator: true });
  return database.readSnapshot(environment, (transaction) =>
    findReplays(transaction, letters, { isOperator: false }),
  );
}

/**
 * GET /events/dead-letters: those whose payload names the environment, newest first; all of them
 * for an operator, who has none.
 */
export async function readDeadLetters(
  dependencies: ReadDependencies & { readonly deadLetters: DeadLetters },
  environment: Environment | null,
  request: DeadLettersRequest,
): Promise<DeadLettersPage | Refusal> {
  const reader = new MemberReader();
  const startMs = reader.instant('start_time', request.start_time) ?? 0;
  const endMs = reader.instant('end_time', request.end_time) ?? APPENDED_END;
  reader.note('end_time', endProblem('start_time', startMs, endMs));
  const refusal = reader.refusal();
  if (refusal !== null) return refusal;
  const page = { limit: request.limit ?? LIMIT_DEFAULT, offset: request.offset ?? 0 };
  const question = { environment, window: { startMs, endMs }, ...page };
  const { letters, total } = await dependencies.deadLetters.list(question);
  const replays = await replaysOf(dependencies.database, environment, letters);
  const withReplays = letters.map((letter) => ({
    ...letter,
    replays: replays.get(letterIdOf(letter)) ?? [],
  }));
  return { letters: withReplays, ...page, total };
}
