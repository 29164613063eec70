import type { Message, HandlersByType } from './message.js';

/**
 * The rules of one aggregate, as pure functions: no Nest, no SQL, no clock.
 *
 * `decide` may refuse, and spells out the data of each event; `evolve` never refuses. `version` is raised whenever the
 * shape of the state changes: snapshots of an older version are then folded anew from the stream.
 */
export type Decider<State, C extends Message, E extends Message> = {
  readonly version: number;
  readonly initial: State;
  readonly decide: HandlersByType<C, [state: State], readonly E[]>;
  readonly evolve: HandlersByType<E, [state: State], State>;
  /** The people whose names the state knows, as `personIn` says: none of them is forgotten while it is being kept. */
  readonly people?: (state: State) => readonly string[];
};

/** Runs the command's row of the table. */
export const decide = <S, C extends Message, E extends Message>(
  decider: Decider<S, C, E>,
  command: C,
  state: S,
): readonly E[] => {
  const row = decider.decide[command.type as C['type']] as (data: unknown, state: S) => readonly E[];
  return row(command.data, state);
};

/** The state after these events. */
export const fold = <S, E extends Message>(
  decider: Pick<Decider<S, never, E>, 'evolve'>,
  state: S,
  events: readonly E[],
): S =>
  events.reduce((current, event) => {
    const row = decider.evolve[event.type as E['type']] as (data: unknown, state: S) => S;
    return row(event.data, current);
  }, state);
