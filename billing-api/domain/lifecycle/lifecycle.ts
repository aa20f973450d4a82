import type { SystemEventName } from './system-event-names.js';

/** One move of a life cycle: from which states it may be made, and where it leads. */
export type Move<State extends string = string> = {
  readonly from: readonly State[];
  /** The states that it may lead to; the process that makes it chooses among them. */
  readonly to: readonly State[];
  /** How a refusal calls it, as in `can be cancelled`. */
  readonly done: string;
  /** The system event that tells of it (docs/http.md 11.3); null for none. */
  readonly announces: SystemEventName | null;
};

/** What a change, such as PUT, may touch while a record is in a state. */
export type Changeable<Member extends string = string> = 'all' | readonly Member[];

/** The life of one kind of record as a table (docs/domain.md 5). */
export type Lifecycle<
  State extends string = string,
  MoveName extends string = string,
  Group extends string = string,
> = {
  /** As messages call one record: `credit note`. */
  readonly subject: string;
  readonly states: readonly [State, ...State[]];
  /** States in which a record may begin. */
  readonly initial: readonly State[];
  readonly moves: Readonly<Record<MoveName, Move<State>>>;
  /** Without an entry for a state, nothing changes in it but by a move. */
  readonly changeable: Readonly<Record<State, Changeable>>;
  /** Sets of states that rules ask for by name. */
  readonly groups: Readonly<Record<Group, readonly State[]>>;
};

/** What is declared of a life cycle; a move without `announces` is not told. */
type Declaration<State extends string, MoveName extends string, Group extends string> = {
  readonly subject: string;
  readonly states: readonly [State, ...State[]];
  readonly initial: readonly NoInfer<State>[];
  readonly moves: Readonly<
    Record<
      MoveName,
      {
        readonly from: readonly NoInfer<State>[];
        readonly to: readonly NoInfer<State>[];
        readonly done: string;
        readonly announces?: SystemEventName;
      }
    >
  >;
  readonly changeable: Readonly<Record<NoInfer<State>, Changeable>>;
  /** A group says of each state whether it belongs to it, so that a new state is decided on. */
  readonly groups?: Readonly<Record<Group, Readonly<Record<NoInfer<State>, boolean>>>>;
};

/** The states of each group, in the order of the states. */
function groupsOf<State extends string, MoveName extends string, Group extends string>({
  states,
  groups,
}: Declaration<State, MoveName, Group>): Lifecycle<State, MoveName, Group>['groups'] {
  const declared = Object.entries<Readonly<Record<State, boolean>>>(groups ?? {});
  const lists = declared.map(
    ([name, has]) => [name, states.filter((state) => has[state])] as const,
  );
  // The loop keeps the names, which TypeScript cannot see.
  return Object.fromEntries(lists) as unknown as Lifecycle<State, MoveName, Group>['groups'];
}

/**
 * Declares a life cycle. Every state needs its entry in `changeable` and in each group, so a new
 * state does not compile until somebody has decided what may change in it and where it belongs.
 */
export function defineLifecycle<
  const State extends string,
  const MoveName extends string,
  const Group extends string = never,
>(declaration: Declaration<State, MoveName, Group>): Lifecycle<State, MoveName, Group> {
  const moves = Object.entries<Declaration<State, MoveName, Group>['moves'][MoveName]>(
    declaration.moves,
  ).map(([name, move]) => [name, { announces: null, ...move }] as const);
  return {
    ...declaration,
    // The loop keeps the names, which TypeScript cannot see.
    moves: Object.fromEntries(moves) as unknown as Lifecycle<State, MoveName, Group>['moves'],
    groups: groupsOf(declaration),
  };
}

/** States that no move leaves for another one. */
export function finalStatesOf<State extends string>(lifecycle: Lifecycle<State>): readonly State[] {
  const moves = Object.values<Move<State>>(lifecycle.moves);
  return lifecycle.states.filter((state) =>
    moves.every(({ from, to }) => !from.includes(state) || to.every((next) => next === state)),
  );
}

/** `draft, active or paused` */
function listed(states: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(states);
}

/**
 * Why a record in this state cannot make a move, with the states in which it could; null when it
 * can. The one wording of all life cycles.
 */
export function problemOfMove<State extends string, MoveName extends string>(
  { subject, moves }: Lifecycle<State, MoveName>,
  name: MoveName,
  state: State,
): string | null {
  const { from, done } = moves[name];
  if (from.includes(state)) return null;
  return `the ${subject} is ${state}; only one that is ${listed(from)} can be ${done}`;
}

/**
 * Why members of a record cannot be changed in its state, naming the first such member; null when
 * all can.
 */
export function problemOfChange<State extends string>(
  { subject, changeable }: Lifecycle<State>,
  state: State,
  members: readonly string[],
): string | null {
  const allowed: Changeable = changeable[state];
  if (allowed === 'all') return null;
  const refused = members.find((member) => !allowed.includes(member));
  if (refused === undefined) return null;
  const rest =
    allowed.length === 0
      ? 'nothing of it changes any more'
      : `only ${allowed.join(', ')} can be changed`;
  return `the ${subject} is ${state}, so ${refused} cannot be changed; ${rest}`;
}

/** Whether a state belongs to a group. */
export function isIn<State extends string, Group extends string>(
  { groups }: Lifecycle<State, string, Group>,
  group: Group,
  state: State,
): boolean {
  return groups[group].includes(state);
}
