import { describe, expect } from 'vitest';
import { endOfProgram } from '../load-tests/harness/end-of-program.js';
import { postgresMessage, startFakePostgres } from '../load-tests/harness/fake-postgres.js';
import { test } from '../load-tests/harness/fixtures.js';

const SHUT_DOWN =
  'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';

const DEATHS = [
  {
    how: 'says that it shuts down',
    lastMessage: postgresMessage('E', Buffer.from(SHUT_DOWN)),
    error: 'PostgreSQL: terminating connection due to administrator command',
  },
  {
    how: 'is cut off without a word',
    lastMessage: Buffer.alloc(0),
    error: 'PostgreSQL: Connection terminated unexpectedly',
  },
];

describe.for(DEATHS)('a PostgreSQL that $how while a pool opens', ({ lastMessage, error }) => {
  test.for(['ingest', 'aggregator', 'billing-api'] as const)(
    'ends %s with one line that names it',
    async (program) => {
      // Its welcome and its last message arrive together, so the client learns of the end before it
      // can ask anything.
      const server = await startFakePostgres(lastMessage);
      const { status, lines } = await endOfProgram(program, { DATABASE_URL: server.url });
      await server.close();
      expect(status).toBe(1);
      expect(lines).toHaveLength(1);
      const said = JSON.parse(lines[0] ?? '') as object;
      expect(said).toMatchObject({ level: 60, msg: 'stopped', error });
      expect(said).not.toHaveProperty('stack');
    },
  );
});
