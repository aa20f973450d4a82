import childProcess from 'node:child_process';
import { Socket } from 'node:net';
import { extractText, getDocumentProxy } from 'unpdf';
import { describe, expect, test, vi } from 'vitest';
import type { InvoiceRow } from './invoice-rows.js';
import { invoicePdf } from './invoice-pdf.js';
import type { PrintedPage } from './printed-invoice.js';

const row = (differing: Partial<InvoiceRow>): InvoiceRow => ({
  kind: 'line',
  name: 'API calls',
  quantity: '3',
  unit: '0.25',
  amount: '0.75',
  ...differing,
});

const PAGE: PrintedPage = {
  title: 'Invoice',
  name: 'Invoice 1',
  notice: null,
  seller: ['Example Ltd'],
  customer: ['Acme Inc.'],
  facts: [['Number', 'INV-202601-00001']],
  amountTitle: 'Amount USD',
  rows: [row({}), row({ kind: 'total', name: 'Total', quantity: '', unit: '' })],
  notes: ['Id inv_1'],
  madeAt: Date.parse('2026-02-01T00:00:00Z'),
};

async function pagesOf(bytes: Buffer): Promise<readonly string[]> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes));
  return (await extractText(pdf, { mergePages: false })).text;
}

const textOf = async (page: PrintedPage): Promise<string> =>
  (await pagesOf(await invoicePdf(page))).join('\n');

describe('the PDF of an invoice', () => {
  test('is the same bytes again (PDF-2)', async () => {
    expect((await invoicePdf(PAGE)).equals(await invoicePdf(PAGE))).toBe(true);
  });

  test('has number, parties, rows and sums, and no page more than it needs', async () => {
    const pages = await pagesOf(await invoicePdf(PAGE));
    expect(pages).toHaveLength(1);
    for (const text of ['INV-202601-00001', 'Acme Inc.', 'Example Ltd', 'API calls', '0.75']) {
      expect(pages[0]).toContain(text);
    }
    expect(pages[0]).toContain('page 1 of 1');
  });

  test.each([
    ['Greek', 'Ελληνική Εταιρεία'],
    ['Cyrillic', 'Общество'],
    ['Chinese', '北京软件公司'],
    ['accented Latin', 'Çağrı Łódź Ñandú'],
  ])('prints a %s name (PDF-5)', async (_script, name) => {
    expect(await textOf({ ...PAGE, customer: [name] })).toContain(name);
  });

  test('prints an Arabic name with every letter and the space between its words', async () => {
    const text = await textOf({ ...PAGE, customer: ['شركة البرمجيات'] });
    const letters = text.normalize('NFKC').match(/[\p{Script=Arabic} ]{8,}/u)?.[0] ?? '';
    expect([...letters.replaceAll(' ', '')].sort()).toEqual([...'شركةالبرمجيات'].sort());
    expect(letters.trim()).toContain(' ');
  });

  test('loses no row of 500 over its pages (PDF-2)', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => row({ name: `Line number ${n} end` }));
    const pages = await pagesOf(await invoicePdf({ ...PAGE, rows }));
    const text = pages.join('\n');
    const missing = rows.filter(({ name }) => !text.includes(name));
    expect(missing).toEqual([]);
    expect(pages.length).toBeGreaterThan(8);
    for (const page of pages.slice(0, -1)) expect(page).toContain('Amount USD');
  });

  test('wraps a name that is wider than its column, also one without spaces (PDF-5)', async () => {
    const name = `${'wide words '.repeat(20)}${'x'.repeat(150)}`;
    const text = (await textOf({ ...PAGE, rows: [row({ name })] })).replaceAll(/\s/g, '');
    expect(text).toContain('x'.repeat(30));
    expect(text.match(/widewords/g)).toHaveLength(20);
    expect(text.match(/x/g)?.length).toBeGreaterThanOrEqual(150);
  });

  test('cuts no digit of a figure that is wider than its column (PDF-1)', async () => {
    const figure = '123456789012345678.123456789012345678';
    const wide = row({ quantity: figure, unit: figure, amount: figure });
    const text = (await textOf({ ...PAGE, rows: [wide] })).replaceAll(/[^\d.]/g, '');
    expect(text).toContain('123456789012');
    expect(text.match(/5678/g)?.length).toBeGreaterThanOrEqual(3);
    expect([...text].filter((one) => one === '9')).toHaveLength(6);
  });

  test('keeps its sums on one page, and asks no other program and no network (PDF-3)', async () => {
    const connected = vi.spyOn(Socket.prototype, 'connect');
    const opened = vi.spyOn(childProcess, 'spawn');
    const sums = ['Subtotal', 'Discounts', 'Taxes'].map((name) => row({ kind: 'sum', name }));
    for (const count of [27, 28, 29, 30]) {
      const lines = Array.from({ length: count }, () => row({}));
      const rows = [...lines, ...sums, row({ kind: 'total', name: 'Total' })];
      const pages = await pagesOf(await invoicePdf({ ...PAGE, rows }));
      const of = (name: string) => pages.findIndex((page) => page.includes(name));
      expect([count, of('Subtotal')]).toEqual([count, of('Total')]);
    }
    expect([connected.mock.calls, opened.mock.calls]).toEqual([[], []]);
    vi.restoreAllMocks();
  });

  test('says that a draft is no invoice (PDF-4)', async () => {
    const text = await textOf({ ...PAGE, notice: 'DRAFT: not an invoice yet' });
    expect(text).toContain('DRAFT: not an invoice yet');
  });
});
