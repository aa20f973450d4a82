import { call, may, type Schemas } from '../data/api.js';
import { Act } from '../parts/act.js';
import { given } from '../parts/form.js';

type LineActsProps = {
  invoice: Schemas['InvoiceDto'];
  line: Schemas['InvoiceLineItemDto'];
};

/** What a person may do with a line of a draft. */
export function LineActs({ invoice, line }: LineActsProps) {
  const id = line.id ?? '';
  const path = { id: invoice.id ?? '', line_id: id };
  return (
    <span class="buttons">
      <Act
        name="change_line"
        of={id}
        ask="ask_change_line"
        fields={[
          { name: 'display_name', label: 'description', value: line.display_name },
          { name: 'quantity', label: 'quantity', value: line.quantity },
          {
            name: 'amount',
            label: 'amount',
            unit: line.currency.toUpperCase(),
            value: line.amount,
          },
        ]}
        send={async (answers) => {
          const body = given(answers, ['display_name', 'quantity', 'amount']);
          await call('PUT', '/invoices/{id}/line_items/{line_id}', { path, body });
        }}
      />
      {may('DELETE', '/invoices/{id}/line_items/{line_id}') && (
        <Act
          name="remove_line"
          of={id}
          ask="ask_remove_line"
          send={async () => {
            await call('DELETE', '/invoices/{id}/line_items/{line_id}', { path });
          }}
        />
      )}
    </span>
  );
}
