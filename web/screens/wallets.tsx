import { call, client, may } from '../data/api.js';
import { Act } from '../parts/act.js';
import { given } from '../parts/form.js';
import { place } from '../app/router.js';
import { useLoad } from '../data/load.js';
import { Facts, Section, Show } from '../parts/states.js';
import { CsvButton, pageOfAddress, Pages, Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Amount, Id, Quantity, State, To, When, choicesOf } from '../parts/values.js';
import { t } from '../words/words.js';

const HEADS = [
  'id',
  'name',
  'customer_id',
  'wallet_status',
  'credit_balance',
  'balance',
  'currency',
];

async function* allWallets(): AsyncGenerator<readonly (string | null)[]> {
  for await (const each of client().each('POST', '/wallets/search', { body: {} })) {
    const { id, name, customer_id: customer, wallet_status: state, currency } = each;
    yield [id, name, customer, state, each.credit_balance, each.balance, currency];
  }
}

export function Wallets() {
  const page = pageOfAddress();
  const body = { expand: 'customer', ...page };
  const found = useLoad(`wallets ${page.offset} ${place.value.environmentId}`, () =>
    call('POST', '/wallets/search', { body }),
  );
  return (
    <>
      <Title of={t('wallets')}>
        <CsvButton name="wallets" heads={HEADS} rows={allWallets} />
      </Title>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('wallets')}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_wallets')}
              columns={[
                {
                  name: t('wallet'),
                  cell: ({ id, name }) => (
                    <To pattern="/wallets/:id" names={{ id }}>
                      {name ?? id}
                    </To>
                  ),
                },
                {
                  name: t('customer'),
                  cell: ({ customer, customer_id: id }) => (
                    <Id id={id} text={customer?.name ?? id} />
                  ),
                },
                { name: t('state'), cell: ({ wallet_status: state }) => <State of={state} /> },
                {
                  name: t('credits'),
                  isNumber: true,
                  cell: ({ credit_balance: text }) => <Quantity text={text} />,
                },
                {
                  name: t('balance'),
                  isNumber: true,
                  cell: ({ balance, currency }) => <Amount text={balance} currency={currency} />,
                },
              ]}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </>
  );
}

function Transactions({ id }: { id: string }) {
  const page = pageOfAddress();
  const found = useLoad(`transactions ${id} ${page.offset}`, () =>
    call('GET', '/wallets/{id}/transactions', { path: { id }, query: page }),
  );
  return (
    <Section title={t('movements')}>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('movements')}
              rows={items}
              keyOf={(each) => each.id}
              columns={[
                { name: t('when'), cell: ({ created_at: at }) => <When at={at} /> },
                { name: t('kind'), cell: ({ type }) => type },
                {
                  name: t('reason'),
                  cell: ({ transaction_reason: why }) => why.toLowerCase().replaceAll('_', ' '),
                },
                { name: t('state'), cell: ({ transaction_status: state }) => <State of={state} /> },
                { name: t('expires'), cell: ({ expiry_date: at }) => <When at={at} /> },
                {
                  name: t('credits'),
                  isNumber: true,
                  cell: ({ credit_amount: text }) => <Quantity text={text} />,
                },
                {
                  name: t('amount'),
                  isNumber: true,
                  cell: ({ amount, currency }) => <Amount text={amount} currency={currency} />,
                },
              ]}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </Section>
  );
}

const REASONS = [
  'FREE_CREDIT_GRANT',
  'PURCHASED_CREDIT_DIRECT',
  'PURCHASED_CREDIT_INVOICED',
] as const;

function TopUp({ id }: { id: string }) {
  return (
    <Act
      name="top_up"
      fields={[
        { name: 'credits_to_add', label: 'credits' },
        {
          name: 'reason',
          label: 'reason',
          choices: choicesOf(REASONS),
        },
        { name: 'expiry_date_utc', label: 'expires', isInstant: true, isOptional: true },
        { name: 'description', label: 'memo', isOptional: true },
      ]}
      send={async (answers) => {
        const reason = REASONS.find((each) => each === answers['reason']) ?? 'FREE_CREDIT_GRANT';
        await call('POST', '/wallets/{id}/top-up', {
          path: { id },
          body: {
            transaction_reason: reason,
            ...given(answers, ['credits_to_add', 'expiry_date_utc', 'description']),
          },
        });
      }}
    />
  );
}

export function WalletScreen({ id = '' }: { id?: string }) {
  const found = useLoad(`wallet ${id}`, () => call('GET', '/wallets/{id}', { path: { id } }));
  return (
    <Show of={found}>
      {(wallet) => (
        <>
          <Title of={`${t('wallet')} ${wallet.name ?? ''}`}>
            {may('POST', '/wallets/{id}/top-up') && wallet.wallet_status === 'active' && (
              <TopUp id={id} />
            )}
          </Title>
          <Facts
            of={[
              [t('customer'), <Id id={wallet.customer_id} />],
              [t('state'), <State of={wallet.wallet_status} />],
              [t('credits'), <Quantity text={wallet.credit_balance} />],
              [t('balance'), <Amount text={wallet.balance} currency={wallet.currency} />],
              [t('id'), <code>{wallet.id}</code>],
            ]}
          />
          <Transactions key={String(wallet.version)} id={id} />
        </>
      )}
    </Show>
  );
}
