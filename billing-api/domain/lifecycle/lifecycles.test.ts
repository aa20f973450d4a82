import { describe, expect, it, test } from 'vitest';
import { readRules } from '../../../load-tests/harness/pages.js';
import { eventsOfPage } from '../../testing/events-of-page.js';
import { CREDIT_NOTE, INVOICE } from './invoice-lifecycle.js';
import {
  defineLifecycle,
  finalStatesOf,
  isIn,
  problemOfChange,
  problemOfMove,
  type Lifecycle,
} from './lifecycle.js';
import { LIFECYCLES } from './lifecycles.js';
import { SUBSCRIPTION } from './subscription-lifecycle.js';

/** The table of a life cycle as docs/domain.md 5 shows it. */
function tableOf({ subject, initial, moves }: Lifecycle): string {
  const rows = Object.entries(moves).map(([name, { from, to, announces }]) => {
    const event = announces === null ? '–' : `\`${announces}\``;
    return `| ${name} | ${from.join(', ')} | ${to.join(', ')} | ${event} |`;
  });
  return [
    `| ${subject} | From | To | Event |`,
    '| --- | --- | --- | --- |',
    `| begin as | – | ${initial.join(', ')} | – |`,
    ...rows,
  ].join('\n');
}

function reachedFrom({ initial, moves }: Lifecycle): ReadonlySet<string> {
  const reached = new Set(initial);
  for (let size = -1; size !== reached.size;) {
    size = reached.size;
    const made = Object.values(moves).filter(({ from }) => from.some((one) => reached.has(one)));
    for (const state of made.flatMap(({ to }) => to)) reached.add(state);
  }
  return reached;
}

describe.for(LIFECYCLES.map((lifecycle) => [lifecycle.subject, lifecycle] as const))(
  'the life cycle of a %s',
  ([, lifecycle]) => {
    const { states, moves, groups, changeable, initial } = lifecycle;

    test('is the table of docs/domain.md 5', () => {
      expect(readRules()).toContain(tableOf(lifecycle));
    });

    test('reaches every state, and names no other', () => {
      expect([...reachedFrom(lifecycle)].sort()).toEqual([...states].sort());
      const named = [
        ...initial,
        ...Object.keys(changeable),
        ...Object.values(moves).flatMap(({ from, to }) => [...from, ...to]),
        ...Object.values(groups).flat(),
      ];
      expect(named.filter((state) => !states.includes(state))).toEqual([]);
    });

    test('has an end', () => {
      expect(finalStatesOf(lifecycle)).not.toEqual([]);
    });

    test('announces events that docs/http.md 11.3 lists', () => {
      const events = eventsOfPage();
      const announced = Object.values(moves).flatMap(({ announces }) => announces ?? []);
      expect(announced.filter((name) => !events.has(name))).toEqual([]);
    });
  },
);

describe('problemOfMove', () => {
  it('names the state, and the states in which the move can be made', () => {
    expect(problemOfMove(SUBSCRIPTION, 'cancel', 'active')).toBeNull();
    expect(problemOfMove(SUBSCRIPTION, 'resume', 'active')).toBe(
      'the subscription is active; only one that is paused can be resumed',
    );
    expect(problemOfMove(CREDIT_NOTE, 'void', 'VOIDED')).toBe(
      'the credit note is VOIDED; only one that is DRAFT or FINALIZED can be voided',
    );
  });
});

describe('problemOfChange', () => {
  it('names the first member that the state does not let change', () => {
    expect(problemOfChange(INVOICE, 'DRAFT', ['description'])).toBeNull();
    expect(problemOfChange(INVOICE, 'FINALIZED', ['metadata', 'due_date'])).toBeNull();
    expect(problemOfChange(INVOICE, 'FINALIZED', ['metadata', 'description'])).toBe(
      'the invoice is FINALIZED, so description cannot be changed; only due_date, invoice_pdf_url, metadata can be changed',
    );
    expect(problemOfChange(INVOICE, 'VOIDED', ['metadata'])).toBe(
      'the invoice is VOIDED, so metadata cannot be changed; nothing of it changes any more',
    );
  });
});

test('a subscription is alive until it is cancelled', () => {
  const dead = SUBSCRIPTION.states.filter((state) => !isIn(SUBSCRIPTION, 'alive', state));
  expect(dead).toEqual(finalStatesOf(SUBSCRIPTION));
});

test('a life cycle without groups or events has none', () => {
  const door = defineLifecycle({
    subject: 'door',
    states: ['open', 'shut'],
    initial: ['open'],
    moves: { shut: { from: ['open'], to: ['shut'], done: 'shut' } },
    changeable: { open: 'all', shut: [] },
  });
  expect([door.groups, door.moves.shut.announces]).toEqual([{}, null]);
});
