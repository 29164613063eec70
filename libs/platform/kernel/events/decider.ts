import type { Message, HandlersByType } from './message.js';

/**
 * The rules of one aggregate, as pure functions: no Nest, no SQL, no clock.
 *
 * `decide` may refuse, and spells out the data of each event; `evolve` never refuses. Raise `version` whenever the
 * shape of the state changes: a snapshot of an older version is then folded again from the events of the stream.
 */
export type Decider<State, C extends Message, E extends Message> = {
  readonly version: number;
  readonly initial: State;
  readonly decide: HandlersByType<C, [state: State], readonly E[]>;
  readonly evolve: HandlersByType<E, [state: State], State>;
  /**
   * Returns the ids of the people whose names the state contains (see `listNamedPeople`). Such a person is not
   * forgotten while the state is being stored.
   */
  readonly people?: (state: State) => readonly string[];
};

/** Runs the decider's function for the command and returns its events. */
export const decide = <S, C extends Message, E extends Message>(
  decider: Decider<S, C, E>,
  command: C,
  state: S,
): readonly E[] => {
  const row = decider.decide[command.type as C['type']] as (data: unknown, state: S) => readonly E[];
  return row(command.data, state);
};

/** Returns the state after these events. */
export const fold = <S, E extends Message>(
  decider: Pick<Decider<S, never, E>, 'evolve'>,
  state: S,
  events: readonly E[],
): S =>
  events.reduce((current, event) => {
    const row = decider.evolve[event.type as E['type']] as (data: unknown, state: S) => S;
    return row(event.data, current);
  }, state);
