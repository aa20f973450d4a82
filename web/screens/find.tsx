import type { Schemas } from '../data/api.js';
import { call, may } from '../data/api.js';
import { place } from '../app/router.js';
import { useLoad } from '../data/load.js';
import { MinutebookError } from '../../client/minutebook-error.js';
import { screenOf, To } from '../parts/values.js';
import { Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { plain, t, type PlainWord } from '../words/words.js';

type Hit = {
  readonly kind: PlainWord;
  readonly text: string;
  readonly more: string;
  readonly pattern: string;
  readonly names: Readonly<Record<string, string>>;
};

const FEW = 20;

function hitOfCustomer({ id, name, external_id, email }: Schemas['CustomerDto']): Hit {
  const more = [external_id, email].filter((text) => text !== null).join(' · ');
  return { kind: 'customer', text: name, more, pattern: '/customers/:id', names: { id } };
}

function hitOfInvoice({ id, invoice_number: number }: Schemas['InvoiceDto']): Hit {
  const names = { id: id ?? '' };
  return {
    kind: 'invoice',
    text: number ?? names.id,
    more: names.id,
    pattern: '/invoices/:id',
    names,
  };
}

function textFilter(field: string, operator: 'eq' | 'contains', text: string) {
  return { field, operator, data_type: 'string' as const, value: { string: text } };
}

async function findCustomers(text: string): Promise<readonly Hit[]> {
  if (!may('POST', '/customers/search')) return [];
  const search = async (body: Schemas['SearchCustomersBody']) =>
    (await call('POST', '/customers/search', { body: { limit: FEW, ...body } })).items;
  const found = await Promise.all([
    search({ external_id: text }),
    text.includes('@') ? search({ email: text }) : [],
    search({ filters: [textFilter('name', 'contains', text)] }),
  ]);
  const byId = new Map(found.flat().map((customer) => [customer.id, customer]));
  return [...byId.values()].slice(0, FEW).map(hitOfCustomer);
}

async function findInvoices(text: string): Promise<readonly Hit[]> {
  if (!may('POST', '/invoices/search')) return [];
  const filters = [textFilter('invoice_number', 'eq', text)];
  const body = { limit: FEW, skip_line_items: true, filters };
  return (await call('POST', '/invoices/search', { body })).items.map(hitOfInvoice);
}

async function findEvent(text: string): Promise<readonly Hit[]> {
  if (!may('GET', '/events/lookup')) return [];
  try {
    const { event } = await call('GET', '/events/lookup', { query: { id: text } });
    const names = { id: event.id };
    const pattern = '/events/:id';
    return [{ kind: 'event', text: event.id, more: event.event_name, pattern, names }];
  } catch (error) {
    // An id that no event has: nothing is found.
    if (error instanceof MinutebookError && error.status === 404) return [];
    throw error;
  }
}

function findById(text: string): readonly Hit[] {
  const path = /^[a-z]+_[0-9A-Z]{26}$/.test(text) ? screenOf(text) : null;
  if (path === null) return [];
  return [{ kind: 'record', text, more: '', pattern: path, names: {} }];
}

async function findAll(text: string): Promise<readonly Hit[]> {
  if (text === '') return [];
  const found = await Promise.all([findCustomers(text), findInvoices(text), findEvent(text)]);
  return [...findById(text), ...found.flat()];
}

/** Any id, external id, event id, invoice number, name or e-mail address. */
export function Find() {
  const text = place.value.query['q'] ?? '';
  const found = useLoad(`find ${text}`, () => findAll(text));
  return (
    <>
      <Title of={t('find')} />
      <p class="quiet">{t('found_for', { text })}</p>
      <Show of={found}>
        {(hits) => (
          <Table
            caption={t('find')}
            rows={hits}
            keyOf={({ pattern, names, text: shown }) => `${pattern} ${names['id'] ?? shown}`}
            empty={t('nothing_found')}
            columns={[
              {
                name: t('what'),
                cell: ({ text: shown, pattern, names }) => (
                  <To pattern={pattern} names={names}>
                    {shown}
                  </To>
                ),
              },
              { name: t('kind'), cell: ({ kind }) => plain(kind) },
              { name: t('more'), cell: ({ more }) => more },
            ]}
          />
        )}
      </Show>
    </>
  );
}
