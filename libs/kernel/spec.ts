import { decide, fold, type Decider } from './decider.js';
import type { Message } from './message.js';
import { Refused, type RefusalKind } from './refused.js';

/**
 * Rules told as given / when / yields. It is `yields` and not `then`: an object with `then` is a thenable, and a stray
 * `await` would call it.
 */
export const specify = <S, C extends Message, E extends Message>(decider: Decider<S, C, E>) => {
  const given = (...history: readonly E[]) => {
    const state = fold(decider, decider.initial, history);
    const attempt = (command: C): readonly E[] => decide(decider, command, state);
    return {
      when: (command: C) => ({
        yields: (...events: readonly E[]): void => {
          expect(attempt(command)).toEqual(events);
        },
        refuses: (kind: RefusalKind, detail: string | RegExp): void => {
          let thrown: unknown;
          try {
            attempt(command);
          } catch (error) {
            thrown = error;
          }
          expect(thrown).toBeInstanceOf(Refused);
          const refused = thrown as Refused;
          expect(refused.kind).toBe(kind);
          expect(refused.message).toMatch(detail);
        },
      }),
      state,
    };
  };
  return { given };
};
