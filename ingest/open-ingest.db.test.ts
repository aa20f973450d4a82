import { expect } from 'vitest';
import { EVENT_LOG_SETTINGS } from '../event-log/open-log.js';
import { test } from '../load-tests/harness/fixtures.js';
import { readConfig } from '../runtime/config.js';
import { Lifecycle } from '../runtime/lifecycle.js';
import { createLog } from '../runtime/log.js';
import { useLog } from '../sql/log-in-use.js';
import { openIngest } from './open-ingest.js';

test('ingest does not open on another log than the one in use', async ({ database }) => {
  await useLog(database.database, 'k-in-use');
  const log = createLog('test', 'silent');
  const lifecycle = new Lifecycle(log);
  const names = [
    ...EVENT_LOG_SETTINGS,
    ...(['MINUTEBOOK_STALE_KEY_SECONDS', 'MINUTEBOOK_INGEST_RATE'] as const),
    ...([
      'MINUTEBOOK_FAILED_AUTH_RATE',
      'MINUTEBOOK_PROXY_COUNT',
      'MINUTEBOOK_PUBLIC_RATE',
    ] as const),
  ];
  const config = { ...readConfig(names, {}), DATABASE_URL: database.url };
  try {
    await expect(openIngest({ config, log, lifecycle, billingApi: null })).rejects.toThrow(
      /^configuration: log k-in-use is in use, and this program was started on log pg-/,
    );
  } finally {
    await lifecycle.close();
  }
});
