import { formatInstant } from '../../../contract/instant.js';
import type { DateTime } from '../../records/record-dto.js';
import type { SignedAnchor } from './anchor-store.js';

/** Something in the books that is not as it was posted. */
export interface BooksProblemDto {
  /** The record, the movement, the customer or the anchor that is wrong. */
  entity_type: string;
  entity_id: string;
  problem: string;
}

/** What the ledger was at an instant, signed with a key that is not in the database. */
export interface LedgerAnchorDto {
  /** 1, 2, 3 … of an environment. @isInt */
  number: number;
  anchored_at: DateTime;
  /** Customers that had movements. @isInt */
  customers: number;
  /** Movements that these had. @isInt */
  movements: number;
  /** SHA-256 of the list of the last movements of all customers. */
  root: string;
  /** The signature of the anchor before; null for the first. */
  previous: string | null;
  /** Ed25519, in base64url. */
  public_key: string;
  /** Ed25519, in base64url. */
  signature: string;
}

/** What a verification of the books has found. */
export interface BooksDto {
  /** Movements whose hashes were computed again. @isInt */
  movements: number;
  /** Invoices, payments, credit notes and wallets that were compared. @isInt */
  records: number;
  /** The last anchor, with which the movements were compared; null before the first. */
  anchor: LedgerAnchorDto | null;
  problems: BooksProblemDto[];
}

export function problemOf(type: string, id: string, problem: string): BooksProblemDto {
  return { entity_type: type, entity_id: id, problem };
}

export function anchorToDto(anchor: SignedAnchor): LedgerAnchorDto {
  const { number, anchoredAt, customers, movements, root, previous } = anchor;
  return {
    number,
    anchored_at: formatInstant(anchoredAt),
    customers,
    movements,
    root,
    previous: previous === '' ? null : previous,
    public_key: anchor.publicKey,
    signature: anchor.signature,
  };
}
