import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { withSession } from './session.js';

/** How long to wait before a lost session is opened again. Notices in between are missed. */
const RECONNECT_MS = 1_000;

/** A connection without a word from anybody may have lost its server. */
const ASK_MS = 10_000;
const LIMIT = { statementTimeoutMs: 5_000 };

export type Listening = { readonly close: () => Promise<void> };

/**
 * Calls `onNotice` for every NOTIFY on the channel with this payload, and once after each connect,
 * since notices may have been missed before. The caller must also poll from time to time: no notice
 * arrives while the session is down, or through a pooler that shares sessions.
 * @param channel an identifier from our own code; it is not quoted.
 */
export function listen(
  url: string,
  { channel, payload }: { readonly channel: string; readonly payload: string },
  onNotice: () => void,
): Listening {
  const stop = new AbortController();
  const { signal } = stop;
  const listenUntilLost = (): Promise<void> => {
    const work = async (session: Client): Promise<void> => {
      const ended = new Promise<void>((resolve) => {
        session.on('end', resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      session.on('notification', (notice) => {
        if (notice.payload === payload) onNotice();
      });
      await session.query(`LISTEN ${channel}`);
      onNotice();
      // When the question is not answered, the session ends.
      const asking = setInterval(() => {
        void session.query('SELECT 1').catch(() => undefined);
      }, ASK_MS);
      if (!signal.aborted) await ended;
      clearInterval(asking);
    };
    return withSession(url, work, LIMIT);
  };
  const listening = (async (): Promise<void> => {
    while (!signal.aborted) {
      // Whatever ended the session, a new one is opened; meanwhile the caller polls.
      await listenUntilLost().catch(() => undefined);
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    close: async () => {
      stop.abort();
      await listening;
    },
  };
}
