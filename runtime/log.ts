import { pino, type Logger } from 'pino';

export type Log = Logger;

/**
 * Logs JSON lines to standard error, so that standard output has only what a command prints. Keys
 * and passwords are redacted.
 */
export function createLog(program: string, level: string): Log {
  return pino(
    {
      level,
      base: { program, pid: process.pid },
      redact: {
        paths: ['apiKey', 'password', 'headers["x-api-key"]', 'headers.authorization'],
        censor: '[redacted]',
      },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
