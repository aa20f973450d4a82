import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { Field, type Answers } from '../parts/form.js';
import { Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Amount, State, When, choicesOf, stateText } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

type Invoice = Schemas['InvoiceDto'];
type Note = Schemas['CreditNoteDto'];
type OfInvoice = { invoice: Invoice };

const REASONS = [
  'BILLING_ERROR',
  'SERVICE_ISSUE',
  'UNSATISFACTORY',
  'ORDER_CHANGE',
  'DUPLICATE',
  'FRAUDULENT',
  'SUBSCRIPTION_CANCELLATION',
] as const;

/** The name of the field of a line, which no other field has. */
const fieldOf = (lineId: string | null): string => `line ${lineId ?? ''}`;

/** A draft: its taxes and total are shown before it counts. */
async function makeNote(invoice: Invoice, answers: Answers): Promise<void> {
  const { memo = '' } = answers;
  const reason = REASONS.find((each) => each === answers['reason']);
  const lines = invoice.line_items.flatMap(({ id }) => {
    const amount = answers[fieldOf(id)] ?? '';
    return amount === '' ? [] : [{ invoice_line_item_id: id ?? '', amount }];
  });
  await call('POST', '/creditnotes', {
    body: {
      invoice_id: invoice.id ?? '',
      line_items: lines,
      process_credit_note: false,
      ...(memo === '' ? {} : { memo }),
      ...(reason === undefined ? {} : { reason }),
    },
  });
}

/** Asks how much is credited of each line; what is left empty stays as it is. */
export function CreditNoteAct({ invoice }: OfInvoice) {
  const currency = invoice.currency.toUpperCase();
  return (
    <Act
      name="make_credit_note"
      ask="ask_credit_note"
      fields={[
        {
          name: 'reason',
          label: 'reason',
          choices: choicesOf(REASONS),
        },
        { name: 'memo', label: 'memo', isOptional: true },
      ]}
      send={async (answers) => {
        await makeNote(invoice, answers);
      }}
      last={invoice.line_items.map(({ id, display_name: name, amount }) => (
        <Field
          key={id}
          name={fieldOf(id)}
          label={t('credit_of_line', { line: name, amount: groupDigits(amount), currency })}
          isRequired={false}
        />
      ))}
    />
  );
}

function NoteActs({ note }: { note: Note }) {
  const path = { id: note.id };
  const isDraft = note.credit_note_status === 'DRAFT';
  const isOver = note.credit_note_status === 'VOIDED';
  return (
    <span class="buttons">
      {isDraft && may('POST', '/creditnotes/{id}/finalize') && (
        <Act
          name="finalize_note"
          of={note.id}
          ask="ask_finalize_note"
          send={async () => {
            await call('POST', '/creditnotes/{id}/finalize', { path });
          }}
        >
          <NoteLines note={note} />
        </Act>
      )}
      {!isOver && may('POST', '/creditnotes/{id}/void') && (
        <Act
          name="void_note"
          of={note.id}
          ask="ask_void_note"
          send={async () => {
            await call('POST', '/creditnotes/{id}/void', { path });
          }}
        />
      )}
    </span>
  );
}

/** What a note takes off, line by line and in all, before it counts. */
function NoteLines({ note }: { note: Note }) {
  const { currency } = note;
  return (
    <Table
      caption={t('lines')}
      rows={[
        ...note.line_items.map(({ id, display_name: name, amount }) => ({ id, name, amount })),
        { id: 'total', name: t('total'), amount: note.total_amount },
      ]}
      keyOf={({ id }) => id}
      columns={[
        { name: t('line'), cell: ({ name }) => name },
        {
          name: t('amount'),
          isNumber: true,
          cell: ({ amount }) => <Amount text={amount} currency={currency} />,
        },
      ]}
    />
  );
}

/** The credit notes of an invoice. */
export function Notes({ invoice }: OfInvoice) {
  const id = invoice.id ?? '';
  const found = useLoad(`notes ${id} ${String(invoice.version)}`, () =>
    call('GET', '/creditnotes', { query: { invoice_id: id, limit: 100 } }),
  );
  return (
    <Section title={t('credit_notes')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('credit_notes')}
            rows={items}
            keyOf={(each) => each.id}
            empty={t('no_credit_notes')}
            columns={[
              { name: t('number'), cell: ({ credit_note_number: number }) => number },
              { name: t('kind'), cell: ({ credit_note_type: type }) => stateText(type) },
              {
                name: t('reason'),
                cell: ({ reason }) => (reason === null ? '–' : stateText(reason)),
              },
              { name: t('state'), cell: ({ credit_note_status: state }) => <State of={state} /> },
              { name: t('when'), cell: ({ created_at: at }) => <When at={at} /> },
              {
                name: t('amount'),
                isNumber: true,
                cell: ({ total_amount: text, currency }) => (
                  <Amount text={text} currency={currency} />
                ),
              },
              { name: t('actions'), isAction: true, cell: (note) => <NoteActs note={note} /> },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}
