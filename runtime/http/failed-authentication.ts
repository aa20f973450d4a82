import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config.js';

export type FailedAuthenticationLimits = {
  /** Failures of one client address in a second; 0 sets no limit. */
  readonly perSecond: number;
  /** Reverse proxies in front, each of which adds an address to `X-Forwarded-For`. */
  readonly proxyCount?: number;
};

const WINDOW_MS = 1_000;

/** What a client that has used up its failures is told. */
export const FAILED_TOO_OFTEN = {
  message:
    'too many requests with missing or wrong credentials from this address: send a valid key, after a second',
  retryAfterSeconds: WINDOW_MS / 1_000,
};

/** At most about 2 MB. Beyond it the address that failed longest ago is forgotten. */
const ADDRESSES_MAX = 10_000;

/** The first 64 bits of an IPv6 address: whoever has one of them has them all. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.toLowerCase().startsWith('::ffff:')) return address;
  const [start = '', end] = address.split('::');
  const first = start === '' ? [] : start.split(':');
  const last = end === undefined || end === '' ? [] : end.split(':');
  const zeros = end === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...Array.from({ length: zeros }, () => '0'), ...last];
  return groups.slice(0, 4).join(':');
}

/** The address of the client: of the connection, or as the outermost trusted proxy saw it. */
export function seenAddressOf(request: IncomingMessage, proxyCount: number): string {
  const { remoteAddress = '' } = request.socket;
  if (proxyCount === 0) return remoteAddress;
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
  const seen = forwarded.at(-proxyCount)?.trim() ?? '';
  return seen === '' ? remoteAddress : seen;
}

/** That address, or the network of one person's addresses. */
export function clientAddressOf(request: IncomingMessage, proxyCount: number): string {
  return networkOf(seenAddressOf(request, proxyCount));
}

/** The counter of a program. */
export function createFailedAuthentication(
  config: Config<'MINUTEBOOK_FAILED_AUTH_RATE' | 'MINUTEBOOK_PROXY_COUNT'>,
): FailedAuthentication {
  return new FailedAuthentication({
    perSecond: config.MINUTEBOOK_FAILED_AUTH_RATE,
    proxyCount: config.MINUTEBOOK_PROXY_COUNT,
  });
}

type Failures = { readonly count: number; readonly since: number };

/**
 * Counts requests with missing or wrong credentials by client address, so that guessing keys costs
 * this process and its database little.
 */
export class FailedAuthentication {
  /** Made by the first failure: its room is taken at once. */
  #failures: LRUCache<string, Failures> | null = null;

  constructor(
    private readonly limits: FailedAuthenticationLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get addressCount(): number {
    return this.#failures?.size ?? 0;
  }

  /** The address of the client, as failures are counted by it. */
  addressOf(request: IncomingMessage): string {
    return clientAddressOf(request, this.limits.proxyCount ?? 0);
  }

  /** Whether the client has used up its failures of this second. */
  isExceeded(request: IncomingMessage): boolean {
    if (this.#failures === null) return false;
    const known = this.#failures.get(this.addressOf(request));
    return known !== undefined && this.#isRecent(known) && known.count >= this.limits.perSecond;
  }

  /** Counts a failure. */
  note(request: IncomingMessage): void {
    if (this.limits.perSecond === 0) return;
    const address = this.addressOf(request);
    this.#failures ??= new LRUCache({ max: ADDRESSES_MAX });
    const known = this.#failures.get(address);
    const isRecent = known !== undefined && this.#isRecent(known);
    const failures = isRecent
      ? { ...known, count: known.count + 1 }
      : { count: 1, since: this.now() };
    this.#failures.set(address, failures);
  }

  #isRecent({ since }: Failures): boolean {
    return this.now() - since < WINDOW_MS;
  }
}
