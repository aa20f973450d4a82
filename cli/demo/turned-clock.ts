import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../look/api-client.js';

const POLL_MS = 200;
const POLLS_MAX = 9_000;

type Clock = {
  readonly id: string;
  readonly status: string;
  readonly failure_reason: string | null;
};
async function answerOf<Answer>(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

/** A development environment of its own, in which time is turned by hand. */
export async function openEnvironment(baseUrl: string): Promise<ApiClient> {
  const json = { 'content-type': 'application/json' };
  const send = <Answer>(path: string, body: object, headers: Record<string, string> = {}) =>
    answerOf<Answer>(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: JSON.stringify(body),
    });
  const suffix = randomBytes(6).toString('hex');
  const person = {
    email: `clock-${suffix}@example.com`,
    password: randomBytes(12).toString('hex'),
  };
  const signedUp = await send<{ token: string }>('/auth/signup', {
    ...person,
    tenant_name: 'Turned clock',
    name: 'Demo',
  });
  const { items } = await answerOf<{ items: readonly { id: string; type: string }[] }>(
    `${baseUrl}/environments`,
    { headers: { authorization: `Bearer ${signedUp.token}` } },
  );
  const development = items.find(({ type }) => type === 'development');
  if (development === undefined) throw new Error('the new tenant has no development environment');
  const chosen = {
    authorization: `Bearer ${signedUp.token}`,
    'x-environment-id': development.id,
  };
  const key = await send<{ api_key: string }>(
    '/secrets/api/keys',
    { name: 'demo', type: 'private_key' },
    chosen,
  );
  return new ApiClient(baseUrl, key.api_key);
}

/** Turns the clock to an instant and waits until everything before it has been done. */
export async function turnTo(api: ApiClient, clockId: string, now: string): Promise<void> {
  await api.post(`/test_clocks/${clockId}/advance`, { now });
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const { status, failure_reason: reason } = await api.get<Clock>(`/test_clocks/${clockId}`);
    if (status === 'ready') return;
    if (status === 'failed') throw new Error(`the clock stopped: ${reason ?? ''}`);
    await sleep(POLL_MS);
  }
  throw new Error(`the clock did not reach ${now}`);
}
