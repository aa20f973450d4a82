import { signal } from '@preact/signals';
import type { MinutebookClient } from '../../client/minutebook-client.js';
import { place } from '../app/router.js';
import { client, type Schemas } from './api.js';

type Refused = { readonly id: string; readonly reason: string };

/** A run that finalizes many draft invoices, one after another, and how far it is. */
export type Finalizing = {
  readonly environmentId: string;
  readonly ids: readonly string[];
  readonly done: number;
  readonly refused: readonly Refused[];
  readonly isRunning: boolean;
};

/** Lives as long as the page: screens may be left meanwhile. Null where none was begun. */
export const finalizing = signal<Finalizing | null>(null);

let isStopped = false;

export function stopFinalizing(): void {
  isStopped = true;
}

/** Asks before the page is closed, with which the rest would stay as it is. */
const holdPage = (event: BeforeUnloadEvent): void => event.preventDefault();

async function idsOf(of: MinutebookClient, body: Schemas['SearchInvoicesBody']) {
  const ids: string[] = [];
  const search = { ...body, invoice_status: ['DRAFT' as const], skip_line_items: true };
  for await (const { id } of of.each('POST', '/invoices/search', { body: search })) {
    if (id !== null) ids.push(id);
  }
  return ids;
}

async function finalizeOne(of: MinutebookClient, id: string): Promise<readonly Refused[]> {
  try {
    await of.post('/invoices/{id}/finalize', { path: { id } });
    return [];
  } catch (error) {
    return [{ id, reason: error instanceof Error ? error.message : String(error) }];
  }
}

/** Finalizes every draft that a search finds, and says how far it is. */
export async function finalizeAll(body: Schemas['SearchInvoicesBody']): Promise<void> {
  if (finalizing.value?.isRunning === true) return;
  const { environmentId } = place.value;
  // The environment stays the same, wherever the address leads meanwhile.
  const of = client(environmentId);
  const ids = await idsOf(of, body);
  let state: Finalizing = { environmentId, ids, done: 0, refused: [], isRunning: true };
  finalizing.value = state;
  isStopped = false;
  addEventListener('beforeunload', holdPage);
  for (const id of ids) {
    if (isStopped) break;
    const refused = await finalizeOne(of, id);
    state = { ...state, done: state.done + 1, refused: [...state.refused, ...refused] };
    finalizing.value = state;
  }
  finalizing.value = { ...state, isRunning: false };
  removeEventListener('beforeunload', holdPage);
}
