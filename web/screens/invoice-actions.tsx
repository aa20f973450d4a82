import { call, may, type Schemas } from '../data/api.js';
import { Act } from '../parts/act.js';
import { given, type Answers } from '../parts/form.js';
import { Facts } from '../parts/states.js';
import { Amount, State } from '../parts/values.js';
import { t } from '../words/words.js';
import { CreditNoteAct } from './credit-note.js';

type Invoice = Schemas['InvoiceDto'];
type ActionsProps = { invoice: Invoice };

const idOf = ({ id }: Invoice): string => id ?? '';

/** What an invoice amounts to, in front of whoever is about to change that. */
function Standing({ invoice }: { invoice: Invoice }) {
  const { currency } = invoice;
  return (
    <Facts
      of={[
        [t('total'), <Amount text={invoice.total} currency={currency} />],
        [t('paid'), <Amount text={invoice.amount_paid} currency={currency} />],
        [t('remaining'), <Amount text={invoice.amount_remaining} currency={currency} />],
        [t('payment'), <State of={invoice.payment_status} />],
      ]}
    />
  );
}

/** Members of a draft that a person changes. Metadata that has no field here is kept. */
async function edit(invoice: Invoice, answers: Answers): Promise<void> {
  const { memo = '' } = answers;
  const kept = Object.entries(invoice.metadata).filter(([name]) => name !== 'memo');
  await call('PUT', '/invoices/{id}', {
    path: { id: idOf(invoice) },
    body: {
      ...given(answers, ['due_date']),
      metadata: { ...Object.fromEntries(kept), ...(memo === '' ? {} : { memo }) },
    },
    ifMatch: `"${String(invoice.version)}"`,
  });
}

function DraftActions({ invoice }: ActionsProps) {
  const path = { id: idOf(invoice) };
  return (
    <>
      {may('POST', '/invoices/{id}/finalize') && (
        <Act
          name="finalize"
          ask="ask_finalize"
          send={async () => {
            await call('POST', '/invoices/{id}/finalize', { path });
          }}
        >
          <Standing invoice={invoice} />
        </Act>
      )}
      {may('POST', '/invoices/{id}/line_items') && (
        <Act
          name="add_line"
          fields={[
            { name: 'display_name', label: 'description' },
            { name: 'amount', label: 'amount', unit: invoice.currency.toUpperCase() },
            { name: 'quantity', label: 'quantity', isOptional: true },
          ]}
          send={async (answers) => {
            const { display_name: name = '', amount = '' } = answers;
            const body = { display_name: name, amount, ...given(answers, ['quantity']) };
            await call('POST', '/invoices/{id}/line_items', { path, body });
          }}
        />
      )}
      {may('POST', '/invoices/{id}/recompute') && (
        <Act
          name="compute_again"
          ask="ask_compute_again"
          send={async () => {
            await call('POST', '/invoices/{id}/recompute', { path });
          }}
        />
      )}
    </>
  );
}

function EditAct({ invoice }: ActionsProps) {
  const memo = (invoice.metadata as Record<string, string>)['memo'] ?? '';
  return (
    <Act
      name="edit"
      record={idOf(invoice)}
      fields={[
        {
          name: 'due_date',
          label: 'due',
          isInstant: true,
          isOptional: true,
          value: invoice.due_date ?? '',
        },
        { name: 'memo', label: 'memo', isOptional: true, value: memo },
      ]}
      send={async (answers) => {
        await edit(invoice, answers);
      }}
    />
  );
}

function PaymentAct({ invoice }: ActionsProps) {
  const { currency } = invoice;
  return (
    <Act
      name="record_payment"
      ask="ask_record_payment"
      fields={[
        {
          name: 'amount',
          label: 'amount',
          unit: currency.toUpperCase(),
          value: invoice.amount_remaining,
        },
        { name: 'note', label: 'memo', isOptional: true },
      ]}
      send={async ({ amount = '', note = '' }) => {
        await call('POST', '/payments', {
          body: {
            destination_type: 'INVOICE',
            destination_id: idOf(invoice),
            payment_method_type: 'OFFLINE',
            amount,
            currency,
            process_payment: true,
            ...(note === '' ? {} : { metadata: { memo: note } }),
          },
        });
      }}
    >
      <Standing invoice={invoice} />
    </Act>
  );
}

function FinalActions({ invoice }: ActionsProps) {
  const path = { id: idOf(invoice) };
  const isOpen = invoice.payment_status === 'PENDING' || invoice.payment_status === 'FAILED';
  return (
    <>
      {may('POST', '/payments') && <PaymentAct invoice={invoice} />}
      {may('POST', '/creditnotes') && <CreditNoteAct invoice={invoice} />}
      {isOpen && may('POST', '/invoices/{id}/payment/attempt') && (
        <Act
          name="try_payment"
          ask="ask_try_payment"
          send={async () => {
            await call('POST', '/invoices/{id}/payment/attempt', { path });
          }}
        >
          <Standing invoice={invoice} />
        </Act>
      )}
      {may('POST', '/invoices/{id}/void') && (
        <Act
          name="void"
          ask="ask_void"
          fields={[{ name: 'reason', label: 'reason', isOptional: true }]}
          send={async ({ reason = '' }) => {
            const body = reason === '' ? {} : { metadata: { void_reason: reason } };
            await call('POST', '/invoices/{id}/void', { path, body });
          }}
        >
          <Standing invoice={invoice} />
        </Act>
      )}
    </>
  );
}

/** Of a void invoice of a subscription, once: computed anew as another invoice. */
function RecalculateAct({ invoice }: ActionsProps) {
  const isPossible =
    invoice.invoice_type === 'SUBSCRIPTION' && invoice.recalculated_invoice_id === null;
  if (!isPossible || !may('POST', '/invoices/{id}/recalculate')) return null;
  return (
    <Act
      name="recalculate"
      ask="ask_recalculate"
      send={async () => {
        await call('POST', '/invoices/{id}/recalculate', { path: { id: idOf(invoice) } });
      }}
    />
  );
}

/** What may be done with an invoice in its state, by whom the server lets do it. */
export function InvoiceActions({ invoice }: ActionsProps) {
  const { invoice_status: state } = invoice;
  const mayEdit = may('PUT', '/invoices/{id}') && (state === 'DRAFT' || state === 'FINALIZED');
  return (
    <>
      {state === 'DRAFT' && <DraftActions invoice={invoice} />}
      {state === 'FINALIZED' && <FinalActions invoice={invoice} />}
      {state === 'VOIDED' && <RecalculateAct invoice={invoice} />}
      {mayEdit && <EditAct invoice={invoice} />}
    </>
  );
}
