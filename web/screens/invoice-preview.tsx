import type { Schemas } from '../data/api.js';
import { Table } from '../parts/table.js';
import { Amount, Quantity } from '../parts/values.js';
import { plain, t, type PlainWord } from '../words/words.js';

type Invoice = Schemas['InvoiceDto'];

type PreviewedLine = {
  readonly key: string;
  readonly name: string;
  readonly quantity: string;
  readonly amount: string;
};

type PreviewedFigures = {
  readonly caption: string;
  readonly currency: string;
  readonly lines: readonly PreviewedLine[];
  readonly sums: readonly (readonly [word: string, amount: string])[];
};

/** The lines of an invoice that a preview would make, and what they add up to. */
export function PreviewedInvoice({ caption, currency, lines, sums }: PreviewedFigures) {
  const amount = (text: string) => <Amount text={text} currency={currency} />;
  return (
    <>
      <Table
        caption={caption}
        rows={lines}
        keyOf={({ key }) => key}
        columns={[
          { name: t('line'), cell: ({ name }) => name },
          {
            name: t('quantity'),
            isNumber: true,
            cell: ({ quantity }) => <Quantity text={quantity} />,
          },
          { name: t('amount'), isNumber: true, cell: ({ amount: text }) => amount(text) },
        ]}
      />
      <dl class="sums">
        {sums.map(([word, text]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{amount(text)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** An invoice that a preview would make, under its title; a sentence where there is none. */
export function InvoicePreview({ title, invoice }: { title: PlainWord; invoice: Invoice | null }) {
  if (invoice === null) return <p class="quiet">{t('nothing_charged_at_once')}</p>;
  return (
    <>
      <h3>{plain(title)}</h3>
      <PreviewedInvoice
        caption={plain(title)}
        currency={invoice.currency}
        lines={invoice.line_items.map(({ id, display_name: name, quantity, amount }) => ({
          key: id ?? name,
          name,
          quantity,
          amount,
        }))}
        sums={[
          [t('tax'), invoice.total_tax],
          [t('total'), invoice.total],
        ]}
      />
    </>
  );
}
