import { describe, expect } from 'vitest';
import { test } from '../../testing/billing-test.js';

const PATH = '/v1/webhook-events/invoice.update.finalized';

describe('POST /webhook-events/invoice.update.finalized', () => {
  test('answers the documented sample without a key, the same on every call', async ({ api }) => {
    const noKey = { headers: { 'x-api-key': '' } };
    const { status, body } = await api.call('POST', PATH, noKey);
    expect(status).toBe(200);
    expect(body.event_type).toBe('invoice.update.finalized');
    expect(body.invoice).toMatchObject({
      id: 'inv_01J0000000000000000000000A',
      invoice_number: 'INV-202501-00001',
      invoice_type: 'SUBSCRIPTION',
      invoice_status: 'FINALIZED',
      payment_status: 'PENDING',
      currency: 'usd',
      subtotal: '150.00',
      total_discount: '15.00',
      total_tax: '27.00',
      total_prepaid_credits_applied: '40.00',
      total: '122.00',
      amount_due: '122.00',
      amount_remaining: '122.00',
      period_start: '2025-01-01T00:00:00.000Z',
      period_end: '2025-02-01T00:00:00.000Z',
    });
    const lines = body.invoice.line_items.map((line: { price_type: string; amount: string }) => [
      line.price_type,
      line.amount,
    ]);
    expect(lines).toEqual([
      ['USAGE', '100.00'],
      ['FIXED', '50.00'],
    ]);
    expect((await api.call('POST', PATH, noKey)).body).toEqual(body);
  });

  test('adds up: lines, discounts, credits and taxes make the total', async ({ api }) => {
    const { invoice } = (await api.call('POST', PATH)).body;
    const cents = (text: string): number => Math.round(Number(text) * 100);
    const sum = (member: string): number =>
      invoice.line_items.reduce(
        (total: number, line: Record<string, string>) => total + cents(line[member] ?? ''),
        0,
      );
    expect(sum('amount')).toBe(cents(invoice.subtotal));
    expect(sum('invoice_level_discount')).toBe(cents(invoice.total_discount));
    expect(sum('prepaid_credits_applied')).toBe(cents(invoice.total_prepaid_credits_applied));
    const total = cents(invoice.subtotal) - cents(invoice.total_discount);
    expect(total - sum('prepaid_credits_applied') + cents(invoice.total_tax)).toBe(
      cents(invoice.total),
    );
  });
});
