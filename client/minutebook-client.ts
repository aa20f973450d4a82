import type { AnswerOf, CallOptions, ItemOf, Method, OptionsArgument, PathOf } from './api-call.js';
import { NOT_REPEATABLE } from './generated/not-repeatable.js';
import { MinutebookError } from './minutebook-error.js';

export type ClientSettings = {
  /** Address of the product with `/v1`, such as `https://billing.example.com/v1`. */
  readonly baseUrl: string;
  /** Left out by a page whose browser has a session with this server. */
  readonly apiKey?: string;
  /** Further headers of every request, such as `X-Environment-ID`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How often a call is tried at most; 5 when absent. */
  readonly attemptsMax?: number;
  /** How long one attempt may take; 30 s when absent. */
  readonly timeoutMs?: number;
  /** Instead of that of the platform. */
  readonly fetch?: typeof fetch;
  /** Instead of a wait of the platform. */
  readonly wait?: (milliseconds: number) => Promise<void>;
};

/** Answers after which the same request may succeed later. */
const RETRIED = new Set([429, 502, 503, 504]);
/** The first wait; each further one is twice as long, up to the longest. */
const WAIT_MS = 250;
const WAIT_MAX_MS = 30_000;
/** Elements of one page. */
const PAGE = 200;

/** A call as it is sent, whatever its operation. */
type Sent = {
  readonly body?: unknown;
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
};

const waitFor = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** A random UUID; browsers have `randomUUID` on pages that came over TLS only. */
function newKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  // Version 4, of the variant of RFC 9562.
  bytes.set([((bytes[6] ?? 0) & 0x0f) | 0x40], 6);
  bytes.set([((bytes[8] ?? 0) & 0x3f) | 0x80], 8);
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A path with its parameters and its query. */
function addressOf(
  baseUrl: string,
  path: string,
  { path: parameters = {}, query = {} }: Sent,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = parameters[name];
    if (value === undefined || value === '') throw new TypeError(`path.${name} is missing`);
    return encodeURIComponent(String(value));
  });
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one !== undefined && one !== null) given.append(name, String(one));
    }
  }
  const text = given.toString();
  return `${baseUrl.replace(/\/+$/, '')}${filled}${text === '' ? '' : `?${text}`}`;
}

/** How long to wait before the next attempt: at least as long as the server asks. */
function waitBefore(attempt: number, outcome: unknown): number {
  const longest = Math.min(WAIT_MS * 2 ** (attempt - 1), WAIT_MAX_MS);
  const own = longest * (0.5 + Math.random() / 2);
  const asked = outcome instanceof Response ? Number(outcome.headers.get('retry-after')) : 0;
  return Number.isFinite(asked) ? Math.max(asked * 1000, own) : own;
}

/** Whether the same request may succeed later: also after a time-out, but not when it was ended. */
function mayRepeat(outcome: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted === true) return false;
  if (!(outcome instanceof Response)) return true;
  // The first request with this Idempotency-Key is still being carried out.
  const isRunning = outcome.status === 409 && outcome.headers.has('retry-after');
  return isRunning || RETRIED.has(outcome.status);
}

function isSuccess(outcome: unknown): outcome is Response {
  return outcome instanceof Response && outcome.ok;
}

/** Frees the connection of an answer that nobody reads. */
async function dropBody(outcome: unknown): Promise<void> {
  if (outcome instanceof Response) await outcome.body?.cancel();
}

async function bodyOf(answer: Response): Promise<unknown> {
  const text = await answer.text();
  if (text === '') return undefined;
  const isJson = answer.headers.get('content-type')?.includes('json') === true;
  return isJson ? JSON.parse(text) : text;
}

/** A member of an error's body, when it is of this type. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // A proxy has answered in words of its own.
    return {};
  }
}

/** What a call fails with: a refusal of Minutebook, or what went wrong on the way. */
async function errorOf(outcome: unknown): Promise<unknown> {
  if (!(outcome instanceof Response)) return outcome;
  const { code, message, details } = parsed(await outcome.text());
  return new MinutebookError({
    status: outcome.status,
    code: typeof code === 'string' ? code : 'unknown',
    message: typeof message === 'string' ? message : `the answer is ${outcome.status}`,
    details: typeof details === 'object' && details !== null ? { ...details } : {},
    requestId: outcome.headers.get('x-request-id'),
  });
}

/** A page as lists answer it, in one of three ways. */
type Page = {
  readonly items: readonly unknown[];
  readonly pagination?: { readonly limit: number; readonly offset: number; readonly total: number };
  readonly next_after?: number;
  readonly has_more?: boolean;
  readonly next_cursor?: string | null;
};

/** The members that ask for the page behind this one; null when it is the last. */
function nextPlace(page: Page): Readonly<Record<string, unknown>> | null {
  const { items, pagination, next_cursor: cursor } = page;
  if (pagination !== undefined) {
    const offset = pagination.offset + items.length;
    return items.length === 0 || offset >= pagination.total ? null : { offset };
  }
  if (page.next_after !== undefined && page.has_more === true) return { after: page.next_after };
  return typeof cursor === 'string' ? { cursor } : null;
}

/**
 * Calls Minutebook. Every call is typed by the OpenAPI document. Calls that fail on the way, or
 * that the server asks to send again, are repeated; a write carries the same Idempotency-Key every
 * time, so that it happens once.
 */
export class MinutebookClient {
  readonly #fetch: typeof fetch;
  readonly #wait: (milliseconds: number) => Promise<void>;

  constructor(private readonly settings: ClientSettings) {
    this.#fetch = settings.fetch ?? fetch;
    this.#wait = settings.wait ?? waitFor;
  }

  /** GET of a path of the document. @throws MinutebookError for a refusal. */
  get<P extends PathOf<'GET'>>(path: P, ...[options]: OptionsArgument<'GET', P>) {
    return this.call('GET', path, options);
  }

  post<P extends PathOf<'POST'>>(path: P, ...[options]: OptionsArgument<'POST', P>) {
    return this.call('POST', path, options);
  }

  put<P extends PathOf<'PUT'>>(path: P, ...[options]: OptionsArgument<'PUT', P>) {
    return this.call('PUT', path, options);
  }

  delete<P extends PathOf<'DELETE'>>(path: P, ...[options]: OptionsArgument<'DELETE', P>) {
    return this.call('DELETE', path, options);
  }

  /** All elements of a list, read page after page while they are taken. */
  async *each<M extends 'GET' | 'POST', P extends PathOf<M>>(
    method: M,
    path: P,
    ...[options]: OptionsArgument<M, P>
  ): AsyncGenerator<ItemOf<M, P>, void> {
    // What the types of the document have checked is sent as it is.
    const given = (options ?? {}) as Sent;
    let place: Readonly<Record<string, unknown>> | null = {};
    while (place !== null) {
      const sent: Sent =
        method === 'GET'
          ? { ...given, query: { limit: PAGE, ...given.query, ...place } }
          : { ...given, body: { limit: PAGE, ...(given.body as object), ...place } };
      // The server keeps to the document, from which the types were made.
      const page = (await this.#send(method, path, sent)) as Page;
      yield* page.items as ItemOf<M, P>[];
      place = nextPlace(page);
    }
  }

  async call<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    options?: CallOptions<M, P>,
  ): Promise<AnswerOf<M, P>> {
    // As for a page.
    return (await this.#send(method, path, (options ?? {}) as Sent)) as AnswerOf<M, P>;
  }

  async #send(method: Method, path: string, sent: Sent): Promise<unknown> {
    const attemptsMax = this.#attemptsOf(`${method} ${path}`);
    const key = method === 'GET' ? undefined : (sent.idempotencyKey ?? newKey());
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(method, path, { ...sent, key });
      if (isSuccess(outcome)) return bodyOf(outcome);
      if (attempt >= attemptsMax || !mayRepeat(outcome, sent.signal)) throw await errorOf(outcome);
      await this.#wait(waitBefore(attempt, outcome));
      await dropBody(outcome);
    }
  }

  #attemptsOf(operation: string): number {
    return NOT_REPEATABLE.has(operation) ? 1 : (this.settings.attemptsMax ?? 5);
  }

  /** The answer, or why there is none. */
  async #attempt(
    method: Method,
    path: string,
    sent: Sent & { readonly key: string | undefined },
  ): Promise<unknown> {
    const { baseUrl, apiKey, headers = {}, timeoutMs = 30_000 } = this.settings;
    const { body, key, ifMatch, signal } = sent;
    const address = addressOf(baseUrl, path, sent);
    const timeout = AbortSignal.timeout(timeoutMs);
    const send = this.#fetch;
    try {
      return await send(address, {
        method,
        headers: {
          ...headers,
          ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
    } catch (error) {
      return error;
    }
  }
}
