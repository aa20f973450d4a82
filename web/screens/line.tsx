import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Explanation } from '../parts/explanation.js';
import { Facts, Section, Show } from '../parts/states.js';
import { Title } from '../parts/title.js';
import { Verify } from '../parts/verify.js';
import { Amount, Period, Quantity, To } from '../parts/values.js';
import { t } from '../words/words.js';
import { LineEvents } from './line-events.js';

type Names = { readonly invoice: string; readonly line: string };
type Read = {
  readonly invoice: Schemas['InvoiceDto'];
  readonly line: Schemas['InvoiceLineItemDto'] | undefined;
  readonly explained: Schemas['ExplanationDto'];
};

async function readLine({ invoice: id, line }: Names): Promise<Read> {
  const [invoice, explained] = await Promise.all([
    call('GET', '/invoices/{id}', { path: { id } }),
    call('GET', '/invoices/{id}/line_items/{line_id}/explain', { path: { id, line_id: line } }),
  ]);
  return { invoice, explained, line: invoice.line_items.find((each) => each.id === line) };
}

/** As many windows of time as one answer has. */
const WINDOWS = 1000;

async function readWindows({ invoice: id, line }: Names, offset: number) {
  const { windows } = await call('GET', '/invoices/{id}/line_items/{line_id}/explain', {
    path: { id, line_id: line },
    query: { windows_limit: WINDOWS, windows_offset: offset },
  });
  return windows?.items ?? [];
}

function Details({ invoice, line, explained }: Read) {
  const { start, end } = explained.period;
  return (
    <Facts
      of={[
        [
          t('invoice'),
          <To pattern="/invoices/:id" names={{ id: invoice.id ?? '' }}>
            {invoice.invoice_number ?? t('draft')}
          </To>,
        ],
        [t('amount'), <Amount text={explained.amount} currency={explained.currency} />],
        [t('quantity'), <Quantity text={line?.quantity ?? null} />],
        [t('period'), <Period start={start} end={end} zone={explained.timezone} />],
      ]}
    />
  );
}

/** Why a line has its amount: the steps of its pricing, and the events behind it. */
export function LineScreen({ invoice = '', line = '' }: Partial<Names>) {
  const names = { invoice, line };
  const found = useLoad(`line ${invoice} ${line}`, () => readLine(names));
  const hasEvents = may('GET', '/invoices/{id}/line_items/{line_id}/events');
  return (
    <Show of={found}>
      {(read) => (
        <>
          <Title of={read.line?.display_name ?? t('line')} />
          <Details {...read} />
          <Section title={t('why_this_amount')}>
            <Explanation of={read.explained} readWindows={(offset) => readWindows(names, offset)} />
          </Section>
          {hasEvents && read.explained.meter !== null && (
            <LineEvents names={names} zone={read.explained.timezone} />
          )}
          <Verify invoiceId={invoice} />
        </>
      )}
    </Show>
  );
}
