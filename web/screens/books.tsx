import { useState } from 'preact/hooks';
import { place } from '../app/router.js';
import { call, may, type Schemas } from '../data/api.js';
import { useAction, useLoad } from '../data/load.js';
import { TextFilter } from '../parts/form.js';
import { Facts, Failure, Section, Show } from '../parts/states.js';
import { Table, type Column } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Amount, Quantity, When } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t, type Word } from '../words/words.js';

type Hour = Schemas['ReconciliationHourDto'];

const COUNTS = [
  'accepted',
  'counted',
  'unmatched',
  'duplicate',
  'erased',
  'expired',
  'pending',
  'difference',
] as const satisfies readonly Word[];

const hourColumns = (): readonly Column<Hour>[] => [
  { name: t('hour'), cell: ({ hour }) => <When at={hour} /> },
  ...COUNTS.map((name) => ({
    name: t(name),
    isNumber: true,
    cell: (each: Hour) => <Quantity text={String(each[name])} />,
  })),
];

function Reconciliation() {
  const found = useLoad(`reconciliation ${place.value.environmentId}`, () =>
    call('GET', '/events/reconciliation'),
  );
  return (
    <Section title={t('reconciliation')}>
      <p class="quiet">{t('reconciliation_hint')}</p>
      <Show of={found}>
        {({ items, totals }) => (
          <>
            <Table
              caption={t('reconciliation')}
              columns={hourColumns()}
              rows={[...items].reverse()}
              keyOf={({ hour }) => hour}
              empty={t('no_events')}
            />
            <dl class="sums">
              <div>
                <dt>{t('difference')}</dt>
                <dd>{groupDigits(String(totals.difference))}</dd>
              </div>
            </dl>
          </>
        )}
      </Show>
    </Section>
  );
}

function Balances() {
  const currency = place.value.query['currency'] ?? 'usd';
  const found = useLoad(`balances ${currency} ${place.value.environmentId}`, () =>
    call('GET', '/ledger/balances', { query: { currency } }),
  );
  return (
    <Section title={t('ledger')}>
      <div class="filters">
        <TextFilter label={t('currency')} name="currency" />
      </div>
      <Show of={found}>
        {({ items, sum, currency: of }) => (
          <>
            <Table
              caption={t('ledger')}
              rows={items}
              keyOf={({ account, wallet_id: wallet }) => `${account} ${wallet ?? ''}`}
              empty={t('no_postings')}
              columns={[
                { name: t('account'), cell: ({ account }) => account.replaceAll('_', ' ') },
                { name: t('wallet'), cell: ({ wallet_id: id }) => <code>{id ?? '–'}</code> },
                {
                  name: t('balance'),
                  isNumber: true,
                  cell: ({ balance }) => <Amount text={balance} currency={of} />,
                },
              ]}
            />
            <dl class="sums">
              <div>
                <dt>{t('sum_of_books')}</dt>
                <dd>
                  <Amount text={sum} currency={of} />
                </dd>
              </div>
            </dl>
          </>
        )}
      </Show>
    </Section>
  );
}

/** Checks the chain of hashes, and every record against its postings. */
function Chain() {
  const [books, setBooks] = useState<Schemas['BooksDto'] | null>(null);
  const checking = useAction(async () => setBooks(await call('GET', '/ledger/verify')));
  return (
    <Section title={t('chain')}>
      <button type="button" disabled={checking.isRunning} onClick={checking.run}>
        {checking.isRunning ? t('verifying') : t('check_books')}
      </button>
      <Failure error={checking.error} />
      {books !== null && (
        <div class={`verdict ${books.problems.length === 0 ? 'good' : 'bad'}`} role="status">
          <Facts
            of={[
              [t('movements'), <Quantity text={String(books.movements)} />],
              [t('records'), <Quantity text={String(books.records)} />],
              [t('problems'), <Quantity text={String(books.problems.length)} />],
              [t('anchor'), <code>{books.anchor?.root ?? '–'}</code>],
            ]}
          />
          {books.problems.map(({ entity_id: id, problem }) => (
            <p key={`${id} ${problem}`}>
              <code>{id}</code> {problem}
            </p>
          ))}
        </div>
      )}
    </Section>
  );
}

export function Books() {
  return (
    <>
      <Title of={t('books')} />
      {may('GET', '/events/reconciliation') && <Reconciliation />}
      <Balances />
      {may('GET', '/ledger/verify') && <Chain />}
    </>
  );
}
