import { place, setQuery } from '../app/router.js';
import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Facts, Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Id, State, When } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

type Customer = Schemas['CustomerDto'];
type Item = Schemas['TimelineItemDto'];
type Members = Readonly<{ [member: string]: unknown }>;

/** How many of the latest things a screen shows. */
const LATEST = 100;
/** Of how many records the state at an instant is read. */
const RECORDS = 20;

/** The latest of what happened, the first thing first. */
async function readLatest(id: string): Promise<readonly Item[]> {
  const read = (query: { limit: number; offset?: number }) =>
    call('GET', '/customers/{id}/timeline', { path: { id }, query });
  const { total: things } = (await read({ limit: 1 })).pagination;
  return (await read({ limit: LATEST, offset: Math.max(0, things - LATEST) })).items;
}

/** A record as it was: what the last entry of the audit trail before then has left. */
type Past = { readonly id: string; readonly type: string; readonly members: Members };

async function readPast(id: string, type: string, at: string): Promise<readonly Past[]> {
  const body = { entity_type: type, entity_id: id, end_time: at, limit: 1 };
  const { items } = await call('POST', '/audit/search', { body });
  return items.map(({ after }) => ({ id, type, members: after as Members }));
}

const SHOWN: ReadonlySet<string> = new Set(['subscription', 'invoice', 'wallet']);

/** The customer and what it had at an instant, as the audit trail says. */
async function readAll(customer: Customer, items: readonly Item[], at: string) {
  const before = items.filter((item) => item.at <= at && SHOWN.has(item.entity_type));
  const types = new Map(before.map((item) => [item.entity_id, item.entity_type]));
  const wanted = [...types].slice(-RECORDS).reverse();
  const [self, ...records] = await Promise.all([
    readPast(customer.id, 'customer', at),
    ...wanted.map(([id, type]) => readPast(id, type, at)),
  ]);
  return { self: self[0]?.members ?? null, records: records.flat() };
}

const textOf = (members: Members, ...names: readonly string[]): string => {
  const found = names.map((name) => members[name]).find((value) => value !== undefined);
  return typeof found === 'string' ? found : '–';
};

/** The amount that says most of a record of a kind, with its currency. */
function worthOf({ members, type }: Past): string {
  if (type === 'subscription') return '–';
  const amount = type === 'wallet' ? textOf(members, 'credit_balance') : textOf(members, 'total');
  const currency = type === 'wallet' ? t('credits') : textOf(members, 'currency').toUpperCase();
  return `${groupDigits(amount)} ${currency}`;
}

const stateOf = ({ members, type }: Past): string => textOf(members, `${type}_status`, 'status');

function Past({ customer, items, at }: { customer: Customer; items: readonly Item[]; at: string }) {
  const found = useLoad(`${customer.id} as of ${at}`, () => readAll(customer, items, at));
  return (
    <Show of={found}>
      {({ self, records }) => (
        <>
          {self !== null && (
            <Facts
              of={[
                [t('name'), textOf(self, 'name')],
                [t('email'), textOf(self, 'email')],
                [t('zone'), textOf(self, 'timezone')],
                [t('state'), textOf(self, 'status')],
              ]}
            />
          )}
          <Table
            caption={t('as_of')}
            rows={records}
            keyOf={({ id }) => id}
            columns={[
              { name: t('kind'), cell: ({ type }) => type },
              { name: t('record'), cell: ({ id }) => <Id id={id} /> },
              { name: t('state'), cell: (record) => <State of={stateOf(record)} /> },
              {
                name: t('payment'),
                cell: ({ members, type }) =>
                  type === 'invoice' ? <State of={textOf(members, 'payment_status')} /> : '–',
              },
              { name: t('amount'), isNumber: true, cell: worthOf },
            ]}
          />
        </>
      )}
    </Show>
  );
}

/** Moves through the instants at which something happened; the last one is now. */
function Slider({ items, at, zone }: { items: readonly Item[]; at: string; zone: string | null }) {
  const index = items.findLastIndex((item) => item.at <= at);
  const last = items.length - 1;
  const { page = '' } = place.value.query;
  return (
    <label class="slider">
      <span>
        {t('as_of')} {at === '' ? t('now') : <When at={at} zone={zone} precision="second" />}
      </span>
      <input
        type="range"
        min={0}
        max={last}
        value={at === '' ? last : index}
        onChange={({ currentTarget }) => {
          const chosen = Number(currentTarget.value);
          setQuery({ as_of: chosen === last ? '' : (items[chosen]?.at ?? ''), page });
        }}
      />
    </label>
  );
}

function History({ customer, items }: { customer: Customer; items: readonly Item[] }) {
  const { as_of: at = '' } = place.value.query;
  const { timezone: zone } = customer;
  const until = at === '' ? items : items.filter((item) => item.at <= at);
  return (
    <>
      {items.length > 1 && may('POST', '/audit/search') && (
        <Slider items={items} at={at} zone={zone} />
      )}
      {at !== '' && may('POST', '/audit/search') && (
        <Past customer={customer} items={items} at={at} />
      )}
      <Table
        caption={t('what_happened')}
        few={20}
        rows={[...until].reverse()}
        keyOf={({ id }) => id}
        columns={[
          { name: t('when'), cell: (item) => <When at={item.at} zone={zone} /> },
          { name: t('what'), cell: ({ summary }) => summary },
          { name: t('record'), cell: ({ entity_id: entity }) => <Id id={entity} /> },
          { name: t('by'), cell: ({ actor_kind: kind, actor_name: name }) => name ?? kind },
        ]}
      />
    </>
  );
}

/** What happened to a customer, and what it was at any instant of that. */
export function CustomerHistory({ customer }: { customer: Customer }) {
  const found = useLoad(`timeline of ${customer.id}`, () => readLatest(customer.id));
  return (
    <Section title={t('what_happened')}>
      <Show of={found}>{(items) => <History customer={customer} items={items} />}</Show>
    </Section>
  );
}
