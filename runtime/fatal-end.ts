import { messageOf } from './failure.js';
import type { Log } from './log.js';

/** Ends the program with status 1 and one line in the log: why, with the stack for who mends it. */
export function endProgram(error: unknown, log: Log): never {
  const stack = error instanceof Error ? error.stack : null;
  log.fatal({ error: messageOf(error), stack }, 'stopped');
  process.exit(1);
}

/**
 * Ends the program in that way when an error reaches none of our code. This is a bug, or an outage
 * that a library reports to nobody: slonik 47 asks for types on a connection of its own when a pool
 * opens, and a server that shuts down at this moment would end the process with a bare stack.
 * `explain` turns such an outage into a DependencyError.
 */
export function endOnUncaughtErrors(log: Log, explain: (error: unknown) => unknown): void {
  process.on('uncaughtException', (error) => endProgram(explain(error), log));
}
