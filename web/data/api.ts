import { signal } from '@preact/signals';
import type { AnswerOf, CallOptions, PathOf } from '../../client/api-call.js';
import { MinutebookClient } from '../../client/minutebook-client.js';
import { MinutebookError } from '../../client/minutebook-error.js';
import type { components } from '../../client/generated/api.js';
import { place } from '../app/router.js';

export type Schemas = components['schemas'];
export type Verb = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Whoever is signed in, where, and what the server lets them do. */
export type Session = {
  readonly user: Schemas['UserDto'];
  readonly environments: readonly Schemas['EnvironmentDto'][];
  readonly permitted: ReadonlySet<string>;
};

/** Undefined until the server has answered; null for nobody. */
export const session = signal<Session | null | undefined>(undefined);

const base = (): string => `${location.origin}/v1`;

/** A client for the environment of the address; a request is tried twice, as somebody waits. */
export function client(environmentId = place.value.environmentId): MinutebookClient {
  const named = environmentId === '' ? {} : { 'X-Environment-ID': environmentId };
  return new MinutebookClient({
    baseUrl: base(),
    headers: named,
    attemptsMax: 2,
    fetch: (...request) => fetch(...request),
  });
}

/** Calls an operation in the environment of the address. Whose session has ended signs in again. */
export async function call<V extends Verb, P extends PathOf<V>>(
  verb: V,
  path: P,
  options?: CallOptions<V, P>,
): Promise<AnswerOf<V, P>> {
  try {
    return await client().call(verb, path, options);
  } catch (error) {
    if (error instanceof MinutebookError && error.status === 401) session.value = null;
    throw error;
  }
}

/** Whether the server lets the user do this. What it does not, is not offered. */
export function may<V extends Verb>(verb: V, path: PathOf<V>): boolean {
  return session.value?.permitted.has(`${verb} ${path}`) ?? false;
}

/** Reads who is signed in; null for nobody. */
export async function readSession(): Promise<void> {
  const asking = client('');
  try {
    const [user, environments, operations] = await Promise.all([
      asking.get('/users/me'),
      asking.get('/environments'),
      asking.get('/users/me/operations'),
    ]);
    const permitted = new Set(operations.items.map(({ method, path }) => `${method} ${path}`));
    session.value = { user, environments: environments.items, permitted };
  } catch (error) {
    if (!(error instanceof MinutebookError) || error.status !== 401) throw error;
    session.value = null;
  }
}

/** Signs in with a password, or the one-time code of `npm start`. */
export async function openSession(body: Schemas['OpenSessionBody']): Promise<void> {
  const once = new MinutebookClient({ baseUrl: base(), attemptsMax: 1 });
  await once.post('/auth/session', { body });
  await readSession();
}

export async function closeSession(): Promise<void> {
  await client('').delete('/auth/session');
  session.value = null;
}

/** Saves a file that the server makes, such as a paper. */
export async function download(path: string, name: string): Promise<void> {
  const { environmentId } = place.value;
  const answer = await fetch(`${base()}${path}`, {
    headers: { 'X-Environment-ID': environmentId },
  });
  if (!answer.ok) {
    throw new MinutebookError({
      status: answer.status,
      code: 'download',
      message: `${answer.status} ${answer.statusText}`,
      details: {},
      requestId: answer.headers.get('x-request-id'),
    });
  }
  saveFile(await answer.blob(), name);
}

export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
