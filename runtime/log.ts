import { pino, type Logger } from 'pino';

export type Log = Logger;

/**
 * JSON lines on standard error, so that standard output stays free for what a command prints.
 * Secrets never reach it.
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
