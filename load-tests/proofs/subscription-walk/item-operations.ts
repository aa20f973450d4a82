import { addItem, endItem, replaceItem } from './model/operate.js';
import { coveringPieces } from './model/charges.js';
import type { Item, Life } from './model/life.js';
import { AMOUNTS } from './walk-catalog.js';
import { linesOf, type Answer, type WalkWorld } from './walk-world.js';
import { iso, pathOf, pick, type Draws, type Operation } from './act.js';

/** Items of a running subscription that have no end. */
function openItems(world: WalkWorld, life: Life): readonly Item[] {
  if (life.status !== 'active' || life.start > world.model.now) return [];
  if (life.schedule?.type === 'plan_change') return [];
  return life.items.filter(({ end }) => end === null);
}

/** The line of the product that is this item: by its start, its kind and its price. */
async function realLine(world: WalkWorld, life: Life, item: Item): Promise<string> {
  const known = world.ids.get(item.id);
  if (known !== undefined) return known;
  const lines = await linesOf(world, life);
  const taken = new Set(world.ids.values());
  const found = lines.find(
    (line: Answer) =>
      !taken.has(line.id) &&
      line.start_date === iso(item.start) &&
      (line.entity_type === 'addon') === (item.addonId !== null) &&
      Number(line.price.amount) === Number(item.amount) &&
      line.price.invoice_cadence === item.cadence,
  );
  if (found === undefined) throw new Error(`no line for ${item.id}: ${JSON.stringify(lines)}`);
  world.ids.set(item.id, found.id);
  return found.id as string;
}

const add: Operation = (world, life, draws) => {
  const { now } = world.model;
  if (life.start > now && life.status !== 'draft') return null;
  if (life.items.length > 12 || life.schedule !== null) return null;
  const isLegal = life.status === 'active';
  if (!isLegal && (draws.b % 8 > 0 || life.status === 'draft')) return null;
  const amount = pick(AMOUNTS[world.fineness], draws.a);
  const cadence = pick(['ADVANCE', 'ARREAR'] as const, draws.b);
  const id = `${life.id}/own${life.items.length}`;
  const price = { amount, invoice_cadence: cadence, billing_period: life.terms.period };
  return {
    says: `add ${amount} ${cadence}`,
    path: `${pathOf(world, life)}/lineitems`,
    isLegal,
    body: { price: { ...price, currency: 'usd', type: 'FIXED' } },
    apply: (answer) => {
      addItem(life, now, { id, amount, cadence });
      world.ids.set(id, answer.id);
    },
  };
};

const end: Operation = async (world, life, draws) => {
  const { now } = world.model;
  const open = openItems(world, life).filter(
    // What was charged in advance stays charged when its line ends (docs/domain.md 27).
    ({ lineage }) => coveringPieces(life, lineage, now).length === 0,
  );
  if (open.length < 2 || life.schedule !== null) return null;
  const item = pick(open, draws.a);
  if (item.start >= now) return null;
  return {
    says: `end ${item.id}`,
    method: 'DELETE',
    body: {},
    isLegal: true,
    path: `/v1/subscriptions/lineitems/${await realLine(world, life, item)}`,
    apply: () => {
      endItem(life, item, now);
    },
  };
};

async function target(world: WalkWorld, life: Life, draws: Draws) {
  const open = openItems(world, life);
  if (open.length === 0 || life.items.length > 16) return null;
  const item = pick(open, draws.a);
  return { item, line: await realLine(world, life, item), id: `${item.id}'` };
}

const quantity: Operation = async (world, life, draws) => {
  const { now } = world.model;
  const chosen = await target(world, life, draws);
  if (chosen === null) return null;
  const { item, line, id } = chosen;
  const wanted = pick(['0', '1', '2', '3', '7', '10'], draws.b);
  if (wanted === item.quantity) return null;
  return {
    says: `quantity ${wanted} of ${item.id}`,
    path: `${pathOf(world, life)}/modify/execute`,
    body: {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: line, quantity: wanted }] },
    },
    isLegal: true,
    apply: (answer) => {
      replaceItem(life, item, { at: now, id, terms: { quantity: wanted } });
      const { line_items: lines } = answer.changed_resources;
      const made = lines.find((one: Answer) => one.id !== line);
      if (made !== undefined) world.ids.set(id, made.id);
    },
  };
};

const replace: Operation = async (world, life, draws) => {
  const { now } = world.model;
  const chosen = await target(world, life, draws);
  if (chosen === null) return null;
  const { item, line, id } = chosen;
  const amount = pick(AMOUNTS[world.fineness], draws.b);
  if (amount === item.amount) return null;
  return {
    says: `price ${amount} of ${item.id}`,
    path: `/v1/subscriptions/lineitems/${line}`,
    method: 'PUT',
    body: { amount },
    isLegal: true,
    apply: (answer) => {
      replaceItem(life, item, { at: now, id, terms: { amount } });
      world.ids.set(id, answer.id);
    },
  };
};

/** What happens to lines of a subscription. */
export const ITEM_OPERATIONS: readonly (readonly [weight: number, Operation])[] = [
  [2, add],
  [2, end],
  [4, quantity],
  [4, replace],
];
