import { Linter, type Rule } from 'eslint';
import { describe, expect, it } from 'vitest';

const path = new URL('../.config/no-literal-state.js', import.meta.url).href;
const { noLiteralState } = (await import(path)) as { readonly noLiteralState: Rule.RuleModule };
const config = {
  plugins: { house: { rules: { 'no-literal-state': noLiteralState } } },
  rules: { 'house/no-literal-state': 'error' },
} as const;
const findingsIn = (code: string): number => new Linter().verify(code, config).length;

describe('a reader of the state of an invoice', () => {
  it.each([
    "if (row.invoice_status === 'DRAFT') skip();",
    "if (invoice?.invoice_status !== 'VOIDED') skip();",
    "const { invoice_status: status } = row; if (status === 'FINALIZED') skip();",
    "switch (note.credit_note_status) { case 'DRAFT': skip(); }",
    "replace(unit, drafts, ['DRAFT', 'SKIPPED']);",
    "sql`WHERE invoice.invoice_status = 'DRAFT' AND ${own}`;",
    "sql`WHERE invoice_status IN ('FINALIZED', 'SKIPPED')`;",
    "sql`CASE invoice.invoice_status WHEN 'DRAFT' THEN 1 END`;",
    "sql`AND note.credit_note_status <> 'VOIDED'`;",
  ])('does not compare it with a text, as in %s', (code) => {
    expect(findingsIn(code)).toBe(1);
  });

  it.each([
    "if (isIn(INVOICE, 'draft', row.invoice_status)) skip();",
    "sql`WHERE ${rowIsIn(['invoice_status'], INVOICE, 'draft')}`;",
    "move(unit, INVOICES, { move: 'void', to: 'VOIDED' });",
    "const draft = { invoice_status: 'DRAFT' };",
    "if (payment.payment_status === 'VOIDED') skip();",
    "sql`AND payment_status NOT IN ('FAILED', 'VOIDED')`;",
  ])('asks a group, and who makes a move names states, as in %s', (code) => {
    expect(findingsIn(code)).toBe(0);
  });
});
