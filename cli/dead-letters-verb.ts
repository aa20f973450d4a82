import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { letterIdOf } from '../billing-api/events/dead-letters/dead-letters-store.js';
import {
  readDeadLetters,
  type DeadLettersPage,
} from '../billing-api/events/dead-letters/read-dead-letters.js';
import { replayAnyDeadLetters } from '../billing-api/events/dead-letters/replay-dead-letters.js';
import { isRefusal } from '../billing-api/records/refusal.js';
import { formatInstant } from '../contract/instant.js';
import { operator } from './operator/as-operator.js';
import { withDeadLetterStores } from './dead-letter-stores.js';

const EXCERPT_CHARACTERS = 100;
const LIMIT_MAX = 1_000;

function limitFrom(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`must be a number from 1 to ${LIMIT_MAX}`);
}

function print({ letters, total }: DeadLettersPage): void {
  for (const letter of letters) {
    const replays = letter.replays.map(
      ({ replayedAtMs, replayedBy }) => `${formatInstant(replayedAtMs)} by ${replayedBy}`,
    );
    const excerpt = JSON.stringify(letter.excerpt.slice(0, EXCERPT_CHARACTERS));
    console.log(`${letterIdOf(letter)}  ${formatInstant(letter.appendedAtMs)}  ${letter.reason}`);
    console.log(`  ${letter.payloadBytes} bytes: ${excerpt}`);
    console.log(`  replayed: ${replays.length === 0 ? 'never' : replays.join(', ')}`);
  }
  console.error(`${letters.length} of ${total} dead letters`);
}

/** `minutebook dead-letters list`: those of all tenants, and those that name no tenant. */
async function listLetters(options: { limit: number; offset: number }): Promise<void> {
  const page = await withDeadLetterStores((stores) => readDeadLetters(stores, null, options));
  if (isRefusal(page)) throw new Error(page.message);
  print(page);
}

/** `minutebook dead-letters replay <id…>`: exits with 1 when one of them could not be replayed. */
async function replayLetters(ids: readonly string[]): Promise<void> {
  const results = await withDeadLetterStores((stores) =>
    replayAnyDeadLetters(stores, operator(), ids),
  );
  if (isRefusal(results)) {
    console.error(results.message);
    process.exitCode = 1;
    return;
  }
  for (const { id, reason, events } of results) {
    console.log(
      reason === null ? `${id}  replayed, ${events} events` : `${id}  not replayed: ${reason}`,
    );
    if (reason !== null) process.exitCode = 1;
  }
}

/** Adds `minutebook dead-letters list|replay` for operators, who see the letters of all tenants. */
export function addDeadLettersVerb(program: Command): void {
  const verb = program
    .command('dead-letters')
    .description('list or replay the log records of all tenants that could not be decoded');
  verb
    .command('list')
    .option('--limit <number>', 'how many to list', limitFrom, 50)
    .option('--offset <number>', 'how many of the newest to skip', Number, 0)
    .action(listLetters);
  verb.command('replay').argument('<ids...>', 'ids as list shows them').action(replayLetters);
}
