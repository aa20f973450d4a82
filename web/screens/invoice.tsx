import { call, download, may, type Schemas } from '../data/api.js';
import { useAction, useLoad } from '../data/load.js';
import { Facts, Failure, Section, Show } from '../parts/states.js';
import { Table, type Column } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Verify } from '../parts/verify.js';
import { Amount, Id, Period, Quantity, State, To, When } from '../parts/values.js';
import { t } from '../words/words.js';
import { Notes } from './credit-note.js';
import { zoneOf } from './invoices.js';
import { InvoiceActions } from './invoice-actions.js';
import { LineActs } from './invoice-line-acts.js';

type Invoice = Schemas['InvoiceDto'];
type Line = Schemas['InvoiceLineItemDto'];
type OfInvoice = { readonly invoice: Invoice };

const idOf = ({ id }: Invoice): string => id ?? '';
const titleOf = ({ invoice_number: number }: Invoice): string =>
  number === null ? t('draft_invoice') : `${t('invoice')} ${number}`;

const mayChangeLines = ({ invoice_status: state }: Invoice): boolean =>
  state === 'DRAFT' && may('PUT', '/invoices/{id}/line_items/{line_id}');

const lineColumns = (invoice: Invoice): readonly Column<Line>[] => [
  { name: t('line'), cell: ({ display_name: name }) => name },
  {
    name: t('period'),
    cell: ({ period_start: start, period_end: end }) => (
      <Period start={start} end={end} zone={zoneOf(invoice)} />
    ),
  },
  { name: t('quantity'), isNumber: true, cell: ({ quantity }) => <Quantity text={quantity} /> },
  {
    name: t('amount'),
    isNumber: true,
    cell: ({ id, amount, currency }) => (
      <To
        pattern="/invoices/:invoice/lines/:line"
        names={{ invoice: idOf(invoice), line: id ?? '' }}
      >
        <Amount text={amount} currency={currency} />
      </To>
    ),
  },
  ...(mayChangeLines(invoice)
    ? [
        {
          name: t('actions'),
          isAction: true,
          cell: (line: Line) => <LineActs invoice={invoice} line={line} />,
        },
      ]
    : []),
];

function Lines({ invoice }: OfInvoice) {
  return (
    <Section title={t('lines')}>
      <Table
        caption={t('lines')}
        rows={invoice.line_items}
        keyOf={({ id }) => id ?? ''}
        columns={lineColumns(invoice)}
      />
      <p class="quiet">{t('lines_hint')}</p>
    </Section>
  );
}

/** The sums below the lines, each as the interface tells it. */
function Sums({ invoice }: OfInvoice) {
  const { currency } = invoice;
  const sums = [
    [t('subtotal'), invoice.subtotal],
    [t('discount'), invoice.total_discount],
    [t('tax'), invoice.total_tax],
    [t('prepaid'), invoice.total_prepaid_credits_applied],
    [t('total'), invoice.total],
    [t('paid'), invoice.amount_paid],
    [t('credited'), invoice.adjustment_amount],
    [t('remaining'), invoice.amount_remaining],
  ] as const;
  return (
    <dl class="sums">
      {sums.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Amount text={text} currency={currency} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Payments({ invoice }: OfInvoice) {
  const id = idOf(invoice);
  const found = useLoad(`payments ${id} ${invoice.version}`, () =>
    call('GET', '/payments', { query: { destination_id: id, limit: 100 } }),
  );
  return (
    <Section title={t('payments')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('payments')}
            rows={items}
            keyOf={(each) => each.id}
            empty={t('no_payments')}
            columns={[
              {
                name: t('when'),
                cell: ({ created_at: at }) => <When at={at} zone={zoneOf(invoice)} />,
              },
              { name: t('means'), cell: ({ payment_method_type: type }) => type.toLowerCase() },
              { name: t('state'), cell: ({ payment_status: state }) => <State of={state} /> },
              {
                name: t('amount'),
                isNumber: true,
                cell: ({ amount, currency }) => <Amount text={amount} currency={currency} />,
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

function Postings({ invoice }: OfInvoice) {
  const id = idOf(invoice);
  const found = useLoad(`postings ${id} ${invoice.version}`, () =>
    call('POST', '/ledger/postings/search', { body: { entity_id: id, limit: 200 } }),
  );
  return (
    <Section title={t('postings')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('postings')}
            rows={items}
            keyOf={(each) => each.id}
            empty={t('no_postings')}
            columns={[
              {
                name: t('when'),
                cell: ({ created_at: at }) => <When at={at} zone={zoneOf(invoice)} />,
              },
              { name: t('kind'), cell: ({ kind }) => kind.replaceAll('_', ' ') },
              { name: t('account'), cell: ({ account }) => account.replaceAll('_', ' ') },
              {
                name: t('amount'),
                isNumber: true,
                cell: ({ amount, currency }) => <Amount text={amount} currency={currency} />,
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

/** The invoice as files: on paper, and its lines for a spreadsheet. */
function Files({ invoice }: OfInvoice) {
  const id = idOf(invoice);
  const name = invoice.invoice_number ?? id;
  const address = `/invoices/${encodeURIComponent(id)}`;
  const paper = useAction(() => download(`${address}/pdf`, `${name}.pdf`));
  const lines = useAction(() => download(`${address}/lines.csv`, `${name}.csv`));
  return (
    <>
      <button type="button" disabled={paper.isRunning} onClick={paper.run}>
        {t('paper')}
      </button>
      <button type="button" disabled={lines.isRunning} onClick={lines.run}>
        CSV
      </button>
      <Failure error={paper.error ?? lines.error} />
    </>
  );
}

function Details({ invoice }: OfInvoice) {
  const zone = zoneOf(invoice);
  return (
    <Facts
      of={[
        [
          t('customer'),
          <Id id={invoice.customer_id} text={invoice.customer?.name ?? invoice.customer_id} />,
        ],
        [t('state'), <State of={invoice.invoice_status} />],
        [t('payment'), <State of={invoice.payment_status} />],
        [t('period'), <Period start={invoice.period_start} end={invoice.period_end} zone={zone} />],
        [t('due'), <When at={invoice.due_date} zone={zone} precision="day" />],
        [t('finalized'), <When at={invoice.finalized_at} zone={zone} />],
        [t('subscription'), <Id id={invoice.subscription_id} />],
        [t('counted_until'), <When at={invoice.data_until} zone={zone} precision="second" />],
        [t('id'), <code>{invoice.id}</code>],
      ]}
    />
  );
}

export function InvoiceScreen({ id = '' }: { id?: string }) {
  const found = useLoad(`invoice ${id}`, () => call('GET', '/invoices/{id}', { path: { id } }));
  return (
    <Show of={found}>
      {(invoice) => (
        <>
          <Title of={titleOf(invoice)}>
            <Files invoice={invoice} />
            <InvoiceActions invoice={invoice} />
          </Title>
          <Details invoice={invoice} />
          <Lines invoice={invoice} />
          <Sums invoice={invoice} />
          <Verify invoiceId={idOf(invoice)}>
            <To class="button" pattern="/invoices/:id/diff" names={{ id: idOf(invoice) }}>
              {t('difference')}
            </To>
          </Verify>
          {may('GET', '/payments') && <Payments invoice={invoice} />}
          {may('GET', '/creditnotes') && <Notes invoice={invoice} />}
          {may('POST', '/ledger/postings/search') && <Postings invoice={invoice} />}
        </>
      )}
    </Show>
  );
}
