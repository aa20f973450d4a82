/** How the amounts and instants of a world are drawn. */
export type Fineness = 'exact' | 'fine';

/** What a plan or an addon costs, monthly and weekly alike. */
export type Prices = readonly (readonly [amount: string, cadence: 'ADVANCE' | 'ARREAR'])[];

/**
 * A cent for each hour of months of 28 to 31 days, and of weeks: so many of them that every share
 * of a period in whole hours is whole cents.
 */
const EXACT = 90_619.2;

/** Prices of the plans. */
export const PLANS: Readonly<Record<Fineness, readonly Prices[]>> = {
  fine: [
    [
      ['100.00', 'ADVANCE'],
      ['31.00', 'ARREAR'],
    ],
    [['200.00', 'ADVANCE']],
    [
      ['49.99', 'ADVANCE'],
      ['0.07', 'ARREAR'],
      ['13.37', 'ADVANCE'],
    ],
    [['80.05', 'ARREAR']],
  ],
  exact: [
    [
      [`${EXACT}0`, 'ADVANCE'],
      [`${EXACT * 2}0`, 'ARREAR'],
    ],
    [[`${EXACT * 4}0`, 'ADVANCE']],
    [
      [`${EXACT * 3}0`, 'ADVANCE'],
      [`${EXACT * 5}0`, 'ADVANCE'],
    ],
    [[`${EXACT * 2}0`, 'ARREAR']],
  ],
};

/** Amounts for lines of subscriptions' own. */
export const AMOUNTS: Readonly<Record<Fineness, readonly string[]>> = {
  fine: ['12.00', '7.77', '150.00', '0.05'],
  exact: [`${EXACT}0`, `${EXACT * 2}0`, `${EXACT * 7}0`],
};

/** Prices of the addons. */
export const ADDONS: typeof PLANS = {
  fine: [
    [['30.00', 'ADVANCE']],
    [
      ['9.99', 'ADVANCE'],
      ['4.50', 'ARREAR'],
    ],
  ],
  exact: [
    [[`${EXACT}0`, 'ADVANCE']],
    [
      [`${EXACT * 2}0`, 'ADVANCE'],
      [`${EXACT}0`, 'ARREAR'],
    ],
  ],
};
