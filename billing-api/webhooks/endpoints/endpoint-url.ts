import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress, isPublicHost } from '../../../runtime/guarded-agents.js';

const NOT_PUBLIC = 'must lead to a public address, since events leave the private network';

/** The addresses of a host now; none when its name is unknown, which the delivery will tell. */
async function addressesOf(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/**
 * Why events cannot be sent to an address; null when they can. The address is checked again on
 * every connection, since a name can change what it leads to.
 */
export async function urlProblem(
  text: string,
  arePrivateTargetsAllowed: boolean,
): Promise<string | null> {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return 'must be an http or https address, such as https://example.com/events';
  }
  if (url.username !== '' || url.password !== '') return 'must have no user and no password';
  if (arePrivateTargetsAllowed) return null;
  if (url.protocol !== 'https:') return 'must begin with https';
  if (!isPublicHost(url.hostname)) return NOT_PUBLIC;
  const addresses = await addressesOf(url.hostname.replace(/^\[|\]$/g, ''));
  return addresses.every(isPublicAddress) ? null : NOT_PUBLIC;
}
