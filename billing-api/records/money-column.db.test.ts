import { describe, expect } from 'vitest';
import { Decimal } from '../../contract/number/decimal.js';
import { test as base } from '../../load-tests/harness/fixtures.js';
import { createId } from '../../runtime/ids.js';
import { bootstrap } from '../../sql/bootstrap.js';
import { withSession } from '../../sql/session.js';
import { testOccasion } from '../testing/test-occasion.js';
import { changeRecord } from './change-record.js';
import { money, nullable, recordVersion, text } from './columns.js';
import { createRecords } from './create-record.js';
import { findRecord } from './find-record.js';
import { defineResource, recordToDto, type NewRecord, type RecordOf } from './resource.js';
import { mustRead, mustWrite, type ReadUnit, type Unit } from './unit.js';

/** A record with money, which no other test knows. */
const BILLS = defineResource({
  name: 'bill',
  idPrefix: 'bill',
  table: 'bills',
  columns: {
    currency: text,
    amount: money('currency'),
    tip: nullable(money('currency')),
    version: recordVersion,
  },
  removal: 'deleted',
});
type Bill = RecordOf<typeof BILLS>;
type NewBill = NewRecord<(typeof BILLS)['columns']>;
/** The amounts of a bill that nobody audits, as of the lines of an invoice. */
const UNAUDITED = { ...BILLS, isAudited: false };

const CREATE_TABLE = `
  CREATE TABLE bills (
    id text PRIMARY KEY, tenant_id text NOT NULL, environment_id text NOT NULL,
    currency text NOT NULL, amount numeric NOT NULL, tip numeric,
    version integer NOT NULL DEFAULT 1, metadata jsonb NOT NULL, status text NOT NULL,
    created_at timestamptz(3) NOT NULL, created_by text,
    updated_at timestamptz(3) NOT NULL, updated_by text);
  SELECT isolate_environment('bills');`;

type Units = {
  readonly write: <T>(work: (unit: Unit) => Promise<T>) => Promise<T>;
  readonly read: <T>(work: (unit: ReadUnit) => Promise<T>) => Promise<T>;
};

const test = base.extend<{ units: Units }>({
  units: async ({ database: { database, url } }, use) => {
    const { environment, userId } = await bootstrap(url, { apiKey: `sk_${'a'.repeat(40)}` });
    await withSession(url, (session) => session.query(CREATE_TABLE));
    const dependencies = { database, clock: { now: () => Date.UTC(2026, 10, 26) }, createId };
    const occasion = testOccasion({ environment, userId });
    await use({
      write: (work) => mustWrite(dependencies, occasion, work),
      read: (work) => mustRead(dependencies, occasion, work),
    });
  },
});

const create = (
  { write }: Units,
  items: readonly NewBill[],
  of = BILLS,
): Promise<readonly Bill[]> => write((unit) => createRecords(unit, of, { items, isBulk: true }));
const shown = (row: Bill): readonly (string | null)[] => {
  const { currency, amount, tip } = recordToDto(BILLS, row);
  return [currency, amount, tip];
};

describe('a column of money', () => {
  test('answers exactly the digits of the currency in its row, after writing and after reading', async ({
    units,
  }) => {
    const rows = await create(units, [
      { currency: 'usd', amount: new Decimal('0.5'), tip: null },
      { currency: 'usd', amount: new Decimal('1000000000000.10'), tip: new Decimal('-0.1') },
      { currency: 'jpy', amount: new Decimal('1200.00'), tip: new Decimal('0') },
      { currency: 'kwd', amount: new Decimal('3'), tip: new Decimal('0.001') },
    ]);
    const expected = [
      ['usd', '0.50', null],
      ['usd', '1000000000000.10', '-0.10'],
      ['jpy', '1200', '0'],
      ['kwd', '3.000', '0.001'],
    ];
    expect(rows.map(shown)).toEqual(expected);
    const read = await units.read((unit) =>
      Promise.all(rows.map(({ id }) => findRecord(unit, BILLS, id))),
    );
    expect(read.map((row) => row && shown(row))).toEqual(expected);
  });

  test('follows the currency when a change gives the row another one, in the audit trail too', async ({
    units,
  }) => {
    const [bill] = await create(units, [{ currency: 'jpy', amount: new Decimal('12'), tip: null }]);
    const audited = await units.write(async (unit) => {
      await changeRecord(unit, BILLS, {
        target: { id: bill?.id ?? '' },
        change: () => ({ currency: 'eur' }),
      });
      return [...unit.changes];
    });
    expect(audited).toMatchObject([
      { before: { currency: 'jpy', amount: '12' }, after: { currency: 'eur', amount: '12.00' } },
    ]);
  });

  test('refuses an amount that is finer than its currency before it is stored, audited or not', async ({
    units,
  }) => {
    for (const of of [BILLS, UNAUDITED]) {
      const finer = create(
        units,
        [{ currency: 'jpy', amount: new Decimal('12'), tip: new Decimal('0.5') }],
        of,
      );
      await expect(finer).rejects.toThrow('unrounded amount 0.5 for jpy');
      const [bill] = await create(
        units,
        [{ currency: 'usd', amount: new Decimal('0.01'), tip: null }],
        of,
      );
      const id = bill?.id ?? '';
      const changed = units.write((unit) =>
        changeRecord(unit, of, { target: { id }, change: () => ({ currency: 'jpy' }) }),
      );
      await expect(changed).rejects.toThrow('unrounded amount 0.01 for jpy');
      const kept = await units.read((unit) => findRecord(unit, of, id));
      expect(kept && shown(kept)).toEqual(['usd', '0.01', null]);
    }
  });

  test('must name a column of its table, where the resource is declared', () => {
    const columns = { amount: money('currency') };
    expect(() =>
      defineResource({ name: 'bill', idPrefix: 'bill', table: 'bills', removal: null, columns }),
    ).toThrow('the column of the currency of amount');
  });
});
