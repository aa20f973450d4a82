import { setTimeout as delay } from 'node:timers/promises';
import { withSession } from './session.js';

/** A lost session is opened again after this pause; notices sent meanwhile are not heard. */
const RECONNECT_MS = 1_000;

export type Listening = { readonly close: () => Promise<void> };

/**
 * Calls `onNotice` for every NOTIFY on the channel with this payload, and once after each
 * connecting, since notices may have been missed before. Notices only save waiting: whoever listens
 * must look by itself now and then, because none is heard while the session is down or where a
 * pooler between keeps sessions apart.
 * @param channel an identifier of our own, not quoted.
 */
export function listen(
  url: string,
  { channel, payload }: { readonly channel: string; readonly payload: string },
  onNotice: () => void,
): Listening {
  const stop = new AbortController();
  const { signal } = stop;
  const hear = (): Promise<void> =>
    withSession(url, async (session) => {
      const ended = new Promise<void>((resolve) => {
        session.on('end', resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      session.on('notification', (notice) => {
        if (notice.payload === payload) onNotice();
      });
      await session.query(`LISTEN ${channel}`);
      onNotice();
      if (!signal.aborted) await ended;
    });
  const listening = (async (): Promise<void> => {
    while (!signal.aborted) {
      // Whatever ended the session, the next one is tried; the caller's own beat goes on.
      await hear().catch(() => undefined);
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
