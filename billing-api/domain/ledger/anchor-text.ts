import { formatInstant, type InstantMs } from '../../../contract/instant.js';

/** What the ledger of an environment was at an instant. */
export type LedgerAnchor = {
  /** 1, 2, 3 … of an environment. */
  readonly number: number;
  readonly anchoredAt: InstantMs;
  /** How many customers have movements, and how many movements these have. */
  readonly customers: number;
  readonly movements: number;
  /** SHA-256 of the list of heads, in hex. */
  readonly root: string;
  /** The signature of the anchor before; empty for the first. */
  readonly previous: string;
};

/** The text of an anchor that is signed. */
export function anchorText(
  { tenantId, environmentId }: { readonly tenantId: string; readonly environmentId: string },
  { number, anchoredAt, customers, movements, root, previous }: LedgerAnchor,
): string {
  return [
    'minutebook ledger anchor 1',
    `tenant ${tenantId}`,
    `environment ${environmentId}`,
    `number ${number}`,
    `anchored_at ${formatInstant(anchoredAt)}`,
    `customers ${customers}`,
    `movements ${movements}`,
    `root ${root}`,
    `previous ${previous === '' ? '-' : previous}`,
  ].join('\n');
}

/** The last movement of a customer. */
export type LedgerHead = {
  readonly customerId: string;
  readonly position: number;
  readonly hash: string;
};

/** The first line of a list of heads. */
export const HEADS_HEADER = 'customer_id,position,hash\r\n';

/** Lines of a list of heads, which stands in the order of the customers. */
export function headLines(heads: readonly LedgerHead[]): string {
  return heads
    .map(({ customerId, position, hash }) => `${customerId},${position},${hash}\r\n`)
    .join('');
}
