import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A target that lies in a private network, where nothing of ours may connect by itself. */
export class PrivateTarget extends Error {
  constructor(address: string) {
    super(`${address} is no public address`);
    this.name = 'PrivateTarget';
  }
}

/** What is given out of IPv6 so far: the rest has other meanings, such as IPv4 addresses in it. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is reachable from everywhere, in whatever notation it is. */
export function isPublicAddress(address: string): boolean {
  try {
    // An IPv4 address inside an IPv6 one counts as what it is.
    const found = ipaddr.process(address.replace(/^\[|\]$/g, ''));
    if (found instanceof ipaddr.IPv6 && !found.match(GLOBAL_IPV6)) return false;
    return found.range() === 'unicast';
  } catch {
    return false;
  }
}

/** Names that lead into a private network by their ending, whatever resolves them. */
const PRIVATE_ENDINGS = /\.(?:localhost|localdomain|local|internal|intranet|lan|home\.arpa)$/;

/**
 * Whether a host of a URL may be reachable from everywhere, as far as its text tells: an address
 * that is public, or a name in a public domain. What a name leads to is checked on connecting.
 */
export function isPublicHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  if (isIP(bare) !== 0) return isPublicAddress(bare);
  const name = bare.toLowerCase().replace(/\.+$/, '');
  return name.includes('.') && !PRIVATE_ENDINGS.test(name);
}

type Found = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Looks a name up, and refuses it when any of its addresses is private. */
function guardedLookup(hostname: string, options: LookupOptions, found: Found): void {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return found(error, []);
    const other = addresses.find(({ address }) => !isPublicAddress(address));
    if (other !== undefined) return found(new PrivateTarget(other.address), []);
    if (options.all === true) return found(null, addresses);
    const [first] = addresses;
    return first === undefined
      ? found(new PrivateTarget(hostname), [])
      : found(null, first.address, first.family);
  });
}

/**
 * Node connects to a literal address without looking anything up: a connection that fails at once
 * in the place of one to a private address; null for every other host.
 */
function refusedLiteral(options: { readonly host?: string | null | undefined }): Socket | null {
  const host = (options.host ?? 'localhost').replace(/^\[|\]$/g, '');
  if (isIP(host) === 0 || isPublicAddress(host)) return null;
  const socket = new Socket();
  process.nextTick(() => socket.destroy(new PrivateTarget(host)));
  return socket;
}

class GuardedHttp extends HttpAgent {
  override createConnection(...args: Parameters<HttpAgent['createConnection']>) {
    return refusedLiteral(args[0]) ?? super.createConnection(...args);
  }
}

class GuardedHttps extends HttpsAgent {
  override createConnection(...args: Parameters<HttpsAgent['createConnection']>) {
    return refusedLiteral(args[0]) ?? super.createConnection(...args);
  }
}

/** How connections to addresses of customers are made. */
export type OutboundAgents = { readonly http: HttpAgent; readonly https: HttpsAgent };

/**
 * Agents that check the address to which they connect, so that neither a name that changes its
 * address nor another notation of it leads into the private network (docs/operations.md).
 */
export function createOutboundAgents({
  arePrivateTargetsAllowed,
}: {
  readonly arePrivateTargetsAllowed: boolean;
}): OutboundAgents {
  const common = { keepAlive: false, timeout: 10_000 };
  if (arePrivateTargetsAllowed) {
    return { http: new HttpAgent(common), https: new HttpsAgent(common) };
  }
  const guarded = { ...common, lookup: guardedLookup };
  return { http: new GuardedHttp(guarded), https: new GuardedHttps(guarded) };
}
