import { useState } from 'preact/hooks';
import { call, may, type Schemas } from '../data/api.js';
import { Dialog, Field, Form, type Answers } from '../parts/form.js';
import { t, type Word } from '../words/words.js';

type Invoice = Schemas['InvoiceDto'];
type Doing = 'finalize' | 'record_payment' | 'void';

/** What may be done with an invoice in its state, by whom the server lets do it. */
function doable({ invoice_status: state }: Invoice): readonly Doing[] {
  const isFinal = state === 'FINALIZED';
  return [
    ...(state === 'DRAFT' && may('POST', '/invoices/{id}/finalize') ? ['finalize' as const] : []),
    ...(isFinal && may('POST', '/payments') ? ['record_payment' as const] : []),
    ...(isFinal && may('POST', '/invoices/{id}/void') ? ['void' as const] : []),
  ];
}

async function carryOut(doing: Doing, invoice: Invoice, { amount = '' }: Answers): Promise<void> {
  const id = invoice.id ?? '';
  switch (doing) {
    case 'finalize':
      await call('POST', '/invoices/{id}/finalize', { path: { id } });
      return;
    case 'void':
      await call('POST', '/invoices/{id}/void', { path: { id }, body: {} });
      return;
    case 'record_payment':
      await call('POST', '/payments', {
        body: {
          destination_type: 'INVOICE',
          destination_id: id,
          payment_method_type: 'OFFLINE',
          amount,
          currency: invoice.currency,
          process_payment: true,
        },
      });
  }
}

type ActionsProps = { invoice: Invoice; reload: () => void };

/** Finalize, record a payment, void: each asked once more before it is done. */
export function InvoiceActions({ invoice, reload }: ActionsProps) {
  const [doing, setDoing] = useState<Doing | null>(null);
  const close = (): void => setDoing(null);
  const word = t as (word: Word) => string;
  const send = async (answers: Answers): Promise<void> => {
    if (doing !== null) await carryOut(doing, invoice, answers);
    close();
    reload();
  };
  return (
    <>
      {doable(invoice).map((each) => (
        <button key={each} type="button" data-writes onClick={() => setDoing(each)}>
          {word(each)}
        </button>
      ))}
      {doing !== null && (
        <Dialog title={word(doing)} close={close}>
          <p>{word(`ask_${doing}`)}</p>
          <Form submit={word(doing)} send={send} cancel={close}>
            {doing === 'record_payment' && (
              <Field
                label={`${t('amount')} (${invoice.currency.toUpperCase()})`}
                name="amount"
                value={invoice.amount_remaining}
              />
            )}
          </Form>
        </Dialog>
      )}
    </>
  );
}
