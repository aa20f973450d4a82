import type { Schemas } from '../data/api.js';
import { Table } from '../parts/table.js';
import { Amount, Quantity } from '../parts/values.js';
import { plain, t, type PlainWord } from '../words/words.js';

type Invoice = Schemas['InvoiceDto'];

/** An invoice that a preview would make: its lines and what they add up to. */
export function InvoicePreview({ title, invoice }: { title: PlainWord; invoice: Invoice | null }) {
  if (invoice === null) return <p class="quiet">{t('nothing_charged_at_once')}</p>;
  const amount = (text: string) => <Amount text={text} currency={invoice.currency} />;
  return (
    <>
      <h3>{plain(title)}</h3>
      <Table
        caption={plain(title)}
        rows={invoice.line_items}
        keyOf={({ id, display_name: name }) => id ?? name}
        columns={[
          { name: t('line'), cell: ({ display_name: name }) => name },
          {
            name: t('quantity'),
            isNumber: true,
            cell: ({ quantity }) => <Quantity text={quantity} />,
          },
          { name: t('amount'), isNumber: true, cell: ({ amount: text }) => amount(text) },
        ]}
      />
      <dl class="sums">
        <div>
          <dt>{t('tax')}</dt>
          <dd>{amount(invoice.total_tax)}</dd>
        </div>
        <div>
          <dt>{t('total')}</dt>
          <dd>{amount(invoice.total)}</dd>
        </div>
      </dl>
    </>
  );
}
