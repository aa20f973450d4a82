import { isPublicHost } from '../../../runtime/guarded-agents.js';

/** Why a service of others cannot be at an address; null when it can. */
export function endpointProblem(text: string, arePrivateTargetsAllowed: boolean): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.search !== '') return 'must be an address';
  if (arePrivateTargetsAllowed) return null;
  if (url.protocol !== 'https:') return 'must begin with https';
  return isPublicHost(url.hostname)
    ? null
    : 'must be a public address, since data leave the private network';
}
